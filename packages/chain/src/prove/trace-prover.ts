import type { Scratch } from '../record/hex.js';
import type { Kind } from '../record/kinds.js';
import { Reader, recordInvalid } from '../record/reader.js';
import {
  blockMembers,
  NO_TRACE_HINTS,
  readTrace,
  type TraceRecord,
  transactionMembers,
} from '../record/trace.js';
import type { TraceHints } from '../record/trace-parts.js';
import { type CallTree, createCallTree } from './call-tree.js';
import { disputedSender } from './prove-senders.js';
import type { Proof, ProvedBlock, TransactionFacts } from './proved-block.js';
import { proofFailed } from './tools.js';

/** Checks a block's traces one by one, for answers too large to hold. */
export interface TraceProver {
  /**
   * Takes the next trace; returns its canonical JSON.
   *
   * @throws RECORD_INVALID, PROOF_FAILED
   */
  push(trace: unknown): string;
  /** Ends the traces. @throws PROOF_FAILED if a transaction or a part of its tree is missing */
  finish(): void;
}

/** The facts of a block that its traces are checked against. */
export type TracedBlock = Pick<ProvedBlock, 'number' | 'hash' | 'transactions'> &
  Partial<Pick<ProvedBlock, 'getSigner'>>;

/** EIP-2718 type of an OP-stack deposit. */
const DEPOSIT = '0x7e';

/** Polygon, and chains made from it, log transfers and fees of their coin as its contract (bor, core/bor_fee_log.go). */
const COIN_OF_POLYGON = '0x0000000000000000000000000000000000001010';

const OF_TRACES: readonly Kind[] = ['traces'];

/**
 * Checks that there is one tree of traces for each transaction, in their order, whose root is that transaction;
 * rewards only after them.
 */
export function createTraceProver(
  block: TracedBlock,
  { keepExtras, scratch, published }: { keepExtras: boolean; scratch: Scratch; published: boolean },
): TraceProver {
  const { number, transactions } = block;
  const reader = new Reader(keepExtras, scratch);
  reader.published = published;
  reader.block = number;
  reader.kinds = OF_TRACES;
  let count = 0;
  /** Of the transaction whose tree is being read; -1 before the first. */
  let position = -1;
  let rewards = false;
  const tree: CallTree = createCallTree();
  /** Addresses that logged in this transaction, and of which no call was seen yet. */
  const uncalled = new Set<string>();

  const hints: TraceHints = {
    ...NO_TRACE_HINTS,
    blockHash: block.hash,
    blockNumber: number,
    blockText: blockMembers(block.hash, number),
  };

  const endTransaction = () => {
    if (position === -1) return;
    checkComplete(number, position, tree.open());
    checkCalled(number, position, uncalled);
  };

  const endTransactions = () => {
    endTransaction();
    if (position === transactions.length - 1) return;
    const { hash } = transactions[position + 1]!;
    fail(number, 'traces', hash, 'nothing', `transaction ${position + 1} (${hash}) has no traces.`);
  };

  const pushReward = (trace: TraceRecord) => {
    if (!rewards) endTransactions();
    rewards = true;
    if (trace.traceAddress.length === 0 && trace.subtraces === 0) return;
    const message = `trace ${count}, a reward, is part of a tree.`;
    fail(number, 'traceAddress', '[]', `[${trace.traceAddress.join(',')}]`, message);
  };

  const pushRoot = (trace: TraceRecord) => {
    endTransaction();
    position = checkNext(block, position + 1, count, trace);
    checkHash(block, position, count, trace);
    checkRoot(block, position, count, trace);
    for (const address of transactions[position]!.logAddresses ?? []) {
      if (address !== COIN_OF_POLYGON) uncalled.add(address);
    }
    if (uncalled.size > 0) noteContext(uncalled, trace);
    tree.begin(trace);
  };

  const pushInner = (trace: TraceRecord) => {
    const which = trace.transactionPosition!;
    if (which !== position) {
      const message = `trace ${count} is of transaction ${which}, in the middle of the tree of transaction ${position}.`;
      fail(number, 'transactionPosition', String(position), String(which), message);
    }
    checkHash(block, position, count, trace);
    if (uncalled.size > 0) noteContext(uncalled, trace);
    const expected = tree.push(trace);
    if (expected === undefined) {
      if (trace.type === 'suicide') checkDestroyed(number, count, trace, tree);
      return;
    }
    const address = `[${trace.traceAddress.join(',')}]`;
    const message = `trace ${count}, of transaction ${which}, stands at ${address}, expected ${expected}.`;
    fail(number, 'traceAddress', expected, address, message);
  };

  return {
    push(value) {
      reader.at('trace', count);
      setHints(hints, getDepth(value), position, transactions, tree);
      const trace = readTrace(reader, value, hints);
      checkBlock(block, count, trace);
      if (trace.type === 'reward') pushReward(trace);
      else {
        if (rewards) {
          const message = `trace ${count} is of transaction ${trace.transactionPosition}, but follows the rewards.`;
          fail(number, 'type', 'reward', trace.type, message);
        }
        if (trace.traceAddress.length === 0) pushRoot(trace);
        else pushInner(trace);
      }
      count++;
      return trace.text;
    },
    finish() {
      if (!rewards) endTransactions();
    },
  };
}

/** Checks that a tree begins with the next transaction, and returns its position. */
function checkNext(
  { number, transactions }: TracedBlock,
  next: number,
  count: number,
  trace: TraceRecord,
): number {
  if (trace.transactionPosition === next && next < transactions.length) return next;
  const expected = next === transactions.length ? 'no more traces' : `transaction ${next}`;
  const got = `transaction ${trace.transactionPosition}`;
  const message = `trace ${count} begins the tree of ${got}, expected ${expected}.`;
  return fail(number, 'transactionPosition', expected, got, message);
}

/** Sets the hints for the next trace, if it is at this depth; `position` is that of the last trace's transaction. */
function setHints(
  hints: TraceHints,
  depth: number,
  position: number,
  transactions: readonly TransactionFacts[],
  tree: CallTree,
): void {
  const which = depth === 0 ? position + 1 : position;
  const tx = transactions[which];
  if (which !== hints.transactionPosition && tx !== undefined) {
    hints.transactionPosition = which;
    hints.transactionHash = tx.hash;
    hints.transactionText = transactionMembers(tx.hash, which);
  }
  const parent = depth === 0 ? undefined : tree.at(depth - 1);
  hints.from = (depth === 0 ? tx?.from : parent?.action.to) ?? '';
  hints.input = (depth === 0 ? tx?.input : parent?.action.input) ?? '';
  hints.output = parent?.result.output ?? '';
}

/** A frame that was undone counts too: it can only hide a lie, not accuse anybody. */
function noteContext(uncalled: Set<string>, { action, result }: TraceRecord): void {
  uncalled.delete(action.context ?? result.created ?? '');
}

/** Checks that who destroys itself is who executes above; some clients write zeros. */
function checkDestroyed(
  number: number,
  count: number,
  { action, ...trace }: TraceRecord,
  tree: CallTree,
): void {
  const above = tree.at(trace.traceAddress.length - 1);
  const expected = above?.action.context ?? above?.result.created;
  if (expected === undefined || action.from === expected) return;
  const message = `trace ${count}, of transaction ${trace.transactionPosition}, destroys ${action.from}, but ${expected} executes there.`;
  fail(number, 'action.address', expected, action.from ?? 'nothing', message);
}

function checkBlock({ hash, number }: TracedBlock, count: number, trace: TraceRecord): void {
  if (trace.blockHash === hash && trace.blockNumber === number) return;
  const message = `trace ${count} is foreign: it is of block ${trace.blockNumber} (${trace.blockHash}), not of this one (${hash}).`;
  fail(number, 'blockHash', hash, trace.blockHash, message);
}

function checkHash(
  { number, transactions }: TracedBlock,
  position: number,
  count: number,
  trace: TraceRecord,
): void {
  const { hash } = transactions[position]!;
  if (trace.transactionHash === hash) return;
  const message = `trace ${count} is of ${trace.transactionHash}, but transaction ${position} is ${hash}.`;
  fail(number, 'transactionHash', hash, trace.transactionHash!, message);
}

/** Checks that a tree ended; `open` is its deepest node that lacks children. */
function checkComplete(block: number, position: number, open: ReturnType<CallTree['open']>): void {
  if (open === undefined) return;
  const where = `[${open.address.join(',')}]`;
  const message = `in the traces of transaction ${position}, the trace at ${where} says it has ${open.subtraces} subtraces, but ${open.seen} follow.`;
  fail(block, 'subtraces', String(open.subtraces), String(open.seen), message);
}

function checkCalled(block: number, position: number, uncalled: ReadonlySet<string>): void {
  const [address] = uncalled;
  if (address === undefined) return;
  const message = `${address} logged in transaction ${position}, but nothing in its traces calls or creates it.`;
  fail(block, 'action.to', address, 'nothing', message, 'logAddresses');
}

/** Checks that the root trace of a transaction repeats it. */
function checkRoot(block: TracedBlock, position: number, count: number, trace: TraceRecord): void {
  const tx = block.transactions[position]!;
  const differs = (field: string, expected: string, got = 'nothing'): never => {
    const message = `the root trace of transaction ${position} has ${field} ${shorten(got)}, the transaction ${shorten(expected)}.`;
    return fail(block.number, field, expected, got, message);
  };
  const type = tx.to === null ? 'create' : 'call';
  if (trace.type !== type) differs('type', type, trace.type);
  if (trace.action.from !== tx.from) failSender(block, position, count, trace.action.from);
  if (tx.to !== null && trace.action.to !== tx.to) differs('action.to', tx.to, trace.action.to);
  if (trace.action.value !== tx.value) differs('action.value', tx.value, trace.action.value);
  if (tx.input !== undefined && trace.action.input !== tx.input) {
    differs(type === 'call' ? 'action.input' : 'action.init', tx.input, trace.action.input);
  }
  if (tx.success !== undefined && trace.failed === tx.success) {
    // a deposit that fails before its first instruction has a failed receipt, and no frame that could have failed
    const neverRan = tx.type === DEPOSIT && !tx.success;
    if (!neverRan) differs('error', tx.success ? 'none' : 'an error', trace.failed ? 'an error' : 'none');
  }
  if (
    type === 'create' &&
    !trace.failed &&
    tx.contractAddress != null &&
    trace.result.created !== tx.contractAddress
  ) {
    differs('result.address', tx.contractAddress, trace.result.created);
  }
}

function failSender(block: TracedBlock, position: number, count: number, got: string | undefined): never {
  const { from } = block.transactions[position]!;
  throw disputedSender(block.number, { from, transactionIndex: position }, block.getSigner?.(position), {
    field: `traces[${count}].action.from`,
    got: got ?? 'nothing',
    expected: from,
    because: `it begins the traces of transaction ${position}, whose sender it repeats`,
    proof: 'traces',
    kinds: OF_TRACES,
    fits: (sender) => sender === got,
  });
}

function fail(
  block: number,
  field: string,
  expected: string,
  got: string,
  message: string,
  proof: Proof = 'traces',
): never {
  throw proofFailed({ block, proof, field, expected, got, kinds: OF_TRACES, message });
}

/** What a block has passed once its traces are proved; the addresses of logs only if its receipts were given too. */
export function traceProofs({ transactions }: TracedBlock): Proof[] {
  const withLogs = transactions.every((tx) => tx.logAddresses !== undefined);
  return withLogs ? ['traces', 'logAddresses'] : ['traces'];
}

/** Depth of a trace in its tree, read before the trace is checked. */
function getDepth(value: unknown): number {
  const address = (value as { traceAddress?: unknown } | null | undefined)?.traceAddress;
  return Array.isArray(address) ? address.length : 0;
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}… (${text.length} characters)` : text;
}

/** Checks a block's traces as one array; returns its canonical JSON. */
export function proveTraces(prover: TraceProver, block: number, traces: unknown): string {
  if (!Array.isArray(traces))
    throw recordInvalid({ block, record: 'block', kinds: OF_TRACES }, 'the traces', 'an array', traces);
  // a string rope, flattened once when it becomes bytes: joining the texts costs a third more
  let text = '[';
  for (let at = 0; at < traces.length; at++) text += `${at > 0 ? ',' : ''}${prover.push(traces[at])}`;
  prover.finish();
  return `${text}]`;
}
