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
  Partial<Pick<ProvedBlock, 'signerOf'>>;

/** EIP-2718 type of an OP-stack deposit. */
const DEPOSIT = '0x7e';

/** Polygon, and chains made from it, log transfers and fees of their coin as its contract (bor, core/bor_fee_log.go). */
const COIN_OF_POLYGON = '0x0000000000000000000000000000000000001010';

const OF_TRACES: readonly Kind[] = ['traces'];

/**
 * Checks that there is one tree of traces for each transaction, in their order, whose root is that transaction;
 * rewards only after them.
 */
export function createTraceProver(block: TracedBlock, keepExtras: boolean, scratch: Scratch): TraceProver {
  const reader = new Reader(keepExtras, scratch);
  reader.block = block.number;
  reader.kinds = OF_TRACES;
  const { transactions } = block;
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
    blockNumber: block.number,
    blockText: blockMembers(block.hash, block.number),
  };

  /** Sets the hints for the next trace, if it is at this depth. */
  const hintAt = (depth: number) => {
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
  };

  const failed = (
    field: string,
    expected: string,
    got: string,
    message: string,
    proof: Proof = 'traces',
  ): never => {
    throw proofFailed({
      block: block.number,
      proof,
      field,
      expected,
      got,
      kinds: OF_TRACES,
      message,
    });
  };

  const endTree = () => {
    if (position === -1) return;
    const open = tree.open();
    if (open === undefined) return;
    const where = `[${open.address.join(',')}]`;
    failed(
      'subtraces',
      String(open.subtraces),
      String(open.seen),
      `in the traces of transaction ${position}, the trace at ${where} says it has ${open.subtraces} subtraces, but ${open.seen} follow.`,
    );
  };

  const endLogs = () => {
    const [address] = uncalled;
    if (address === undefined) return;
    const message = `${address} logged in transaction ${position}, but nothing in its traces calls or creates it.`;
    failed('action.to', address, 'nothing', message, 'logAddresses');
  };

  const endTransactions = () => {
    endTree();
    endLogs();
    if (position === transactions.length - 1) return;
    const { hash } = transactions[position + 1]!;
    failed('traces', hash, 'nothing', `transaction ${position + 1} (${hash}) has no traces.`);
  };

  const pushReward = (trace: TraceRecord) => {
    if (!rewards) endTransactions();
    rewards = true;
    if (trace.traceAddress.length === 0 && trace.subtraces === 0) return;
    failed(
      'traceAddress',
      '[]',
      `[${trace.traceAddress.join(',')}]`,
      `trace ${count}, a reward, is part of a tree.`,
    );
  };

  const pushOfTransaction = (trace: TraceRecord) => {
    const which = trace.transactionPosition!;
    const got = `transaction ${which}`;
    if (rewards) {
      failed('type', 'reward', trace.type, `trace ${count} is of ${got}, but follows the rewards.`);
    }
    const isRoot = trace.traceAddress.length === 0;
    if (isRoot) {
      endTree();
      endLogs();
      const next = position + 1;
      if (which !== next || next === transactions.length) {
        const expected = next === transactions.length ? 'no more traces' : `transaction ${next}`;
        failed(
          'transactionPosition',
          expected,
          got,
          `trace ${count} begins the tree of ${got}, expected ${expected}.`,
        );
      }
      position = next;
      checkHash(trace);
      checkRoot(trace, transactions[position]!);
      for (const address of transactions[position]!.logAddresses ?? []) {
        if (address !== COIN_OF_POLYGON) uncalled.add(address);
      }
      noteContext(trace);
      tree.begin(trace);
      return;
    }
    if (which !== position) {
      const message = `trace ${count} is of ${got}, in the middle of the tree of transaction ${position}.`;
      failed('transactionPosition', String(position), String(which), message);
    }
    checkHash(trace);
    noteContext(trace);
    const expected = tree.push(trace);
    if (expected === undefined) return;
    const address = `[${trace.traceAddress.join(',')}]`;
    const message = `trace ${count}, of ${got}, stands at ${address}, expected ${expected}.`;
    failed('traceAddress', expected, address, message);
  };

  /** A frame that was undone counts too: it can only hide a lie, not accuse anybody. */
  const noteContext = ({ action, result }: TraceRecord) => {
    if (uncalled.size > 0) uncalled.delete(action.context ?? result.created ?? '');
  };

  const checkHash = (trace: TraceRecord) => {
    const { hash } = transactions[position]!;
    if (trace.transactionHash === hash) return;
    const message = `trace ${count} is of ${trace.transactionHash}, but transaction ${position} is ${hash}.`;
    failed('transactionHash', hash, trace.transactionHash!, message);
  };

  const checkRoot = (trace: TraceRecord, tx: TransactionFacts) => {
    const differs = (field: string, expected: string, got: string | undefined): never =>
      failed(
        field,
        expected,
        got ?? 'nothing',
        `the root trace of transaction ${position} has ${field} ${shorten(got ?? 'nothing')}, the transaction ${shorten(expected)}.`,
      );
    const type = tx.to === null ? 'create' : 'call';
    if (trace.type !== type) differs('type', type, trace.type);
    if (trace.action.from !== tx.from) failSender(trace.action.from, tx);
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
  };

  const failSender = (got: string | undefined, { from }: TransactionFacts): never => {
    const tx = { from, transactionIndex: position };
    throw disputedSender(block.number, tx, block.signerOf?.(position), {
      field: `traces[${count}].action.from`,
      got: got ?? 'nothing',
      expected: from,
      because: `it begins the traces of transaction ${position}, whose sender it repeats`,
      proof: 'traces',
      kinds: OF_TRACES,
      fits: (sender) => sender === got,
    });
  };

  return {
    push(value) {
      reader.at('trace', count);
      hintAt(depthOf(value));
      const trace = readTrace(reader, value, hints);
      if (trace.blockHash !== block.hash || trace.blockNumber !== block.number) {
        failed(
          'blockHash',
          block.hash,
          trace.blockHash,
          `trace ${count} is foreign: it is of block ${trace.blockNumber} (${trace.blockHash}), not of this one (${block.hash}).`,
        );
      }
      if (trace.type === 'reward') pushReward(trace);
      else pushOfTransaction(trace);
      count++;
      return trace.text;
    },
    finish() {
      if (!rewards) endTransactions();
    },
  };
}

/** What a block has passed once its traces are proved; the addresses of logs only if its receipts were given too. */
export function traceProofs({ transactions }: TracedBlock): Proof[] {
  const withLogs = transactions.every((tx) => tx.logAddresses !== undefined);
  return withLogs ? ['traces', 'logAddresses'] : ['traces'];
}

/** Depth of a trace in its tree, read before the trace is checked. */
function depthOf(value: unknown): number {
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
