import type { ErrorCode } from '@packhouse/runtime';
import type { BatchUpstream } from '../calls/batch-upstream.js';
import type { CallContext, GoodAnswer, RawResult } from '../calls/call.js';
import { type BlockFacts, type Mode, RECEIPT_MODE_BY_TRANSACTION } from '../calls/capabilities.js';
import { type Fault, isFault, makeFault } from '../upstream/fault.js';
import { type CapableAnswer, callCapable } from './call-capable.js';
import type { Part } from './lazy-block.js';

/** A list that a call was answered with. */
interface RecordList extends Part<unknown[]> {
  length: number;
  /** How many elements are not null. */
  present: number;
  first: unknown;
}

/** The list of an answer, or its fault if it is malformed; null if it is none. Of bytes that came the first is parsed. */
export function readList(answer: GoodAnswer): RecordList | Fault | null {
  const { raw } = answer;
  if (raw !== undefined && raw.outlined.objects !== null) {
    const { first, objects } = raw.outlined;
    const parsed = first === null ? { value: undefined } : raw.readPart(first);
    if (isFault(parsed)) return parsed;
    return new RawList(raw, objects, parsed.value);
  }
  const parsed = raw?.read() ?? { value: answer.value };
  if (isFault(parsed)) return parsed;
  return Array.isArray(parsed.value) ? toList(parsed.value) : null;
}

class RawList implements RecordList {
  readonly raw: Buffer;
  readonly length: number;
  readonly present: number;
  readonly first: unknown;
  readonly #result: RawResult;

  constructor(result: RawResult, objects: number, first: unknown) {
    this.raw = result.bytes;
    this.length = objects;
    this.present = objects;
    this.first = first;
    this.#result = result;
  }
  get value(): unknown[] {
    return this.#result.value as unknown[];
  }
}

/** A list that was parsed. */
function toList(value: unknown[]): RecordList {
  const present = value.filter((record) => record !== null && record !== undefined).length;
  return { length: value.length, present, first: value[0], value };
}

/** A record that names another block than the requested one: the chain was reorganised in between. */
export function checkBlockHash(
  asked: Parameters<typeof makeFault>[0],
  record: unknown,
  block: Pick<BlockFacts, 'hash'>,
): Fault | null {
  const named =
    typeof record === 'object' && record !== null && 'blockHash' in record ? record.blockHash : undefined;
  if (typeof named !== 'string' || named.toLowerCase() === block.hash.toLowerCase()) return null;
  const happened = `answered with data of block ${asked.label.quote(named)} instead of ${block.hash}`;
  return makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'here', {
    hint: 'The chain was reorganised between two calls; the block is fetched again.',
  });
}

/** Faults of one block's answer: the node itself answers, and may have the receipts one by one. */
const OF_THE_BLOCK = new Set<ErrorCode>(['NODE_ERROR', 'NODE_ANSWER_MISSING', 'NODE_ANSWER_INVALID']);

/** Blocks of a node that are kept for their second time. */
const MAX_FAILED = 1_000;

/**
 * Asks an upstream for the receipts of blocks that have transactions. Every second time that it fails to give those of a
 * block at once, they are asked for transaction by transaction, if it has the first one's: the root proves them.
 */
export async function fetchReceipts(
  node: BatchUpstream,
  blocks: readonly BlockFacts[],
  context: CallContext,
): Promise<Map<number, CapableAnswer<Mode, Part<unknown[]>> | Fault>> {
  const { failedReceipts } = node;
  const found = await callCapable(node, node.capabilities.receipts, blocks, context, (mode, block, answers) =>
    readReceipts(node, mode, block, answers),
  );
  for (const block of blocks) {
    const one = found.get(block.number);
    if (one === undefined || !isFault(one) || !OF_THE_BLOCK.has(one.error.code)) continue;
    if (failedReceipts.delete(block.hash)) {
      const receipts = await fetchOneByOne(node, block, context);
      if (receipts !== null) found.set(block.number, receipts);
    } else failedReceipts.add(block.hash);
    for (const old of failedReceipts) if (failedReceipts.size > MAX_FAILED) failedReceipts.delete(old);
  }
  return found;
}

/** Asks for the receipts of a block's transactions one by one; null if it does not give the first one's. */
async function fetchOneByOne(
  node: BatchUpstream,
  block: BlockFacts,
  context: CallContext,
): Promise<CapableAnswer<Mode, Part<unknown[]>> | Fault | null> {
  const mode = RECEIPT_MODE_BY_TRANSACTION;
  const calls = mode.calls(block);
  if (isFault(calls)) return calls;
  const [first] = await node.callAll(calls.slice(0, 1), context);
  if (first?.ok !== true || first.value === null) return null;
  const answers = [first, ...(await node.callAll(calls.slice(1), context))];
  const bad = answers.find((answer) => !answer.ok);
  if (bad?.ok === false) return bad.fault;
  const good = answers as GoodAnswer[];
  const part = readReceipts(node, mode, block, good);
  return isFault(part) ? part : { mode, part, answers: good };
}

/** Reads the receipts of a block from the answers to its calls. The proofs show whether they are the right ones. */
function readReceipts(
  node: BatchUpstream,
  mode: Mode,
  block: BlockFacts,
  answers: readonly GoodAnswer[],
): Part<unknown[]> | Fault {
  const asked = { label: node.label, what: `${mode.name} for block ${block.number}`, block: block.number };
  const receipts = listOfAll(answers);
  if (receipts === null) {
    return makeFault(asked, 'NODE_ANSWER_INVALID', 'answered with something that is no list', 'elsewhere');
  }
  if (isFault(receipts)) return receipts;
  const { present } = receipts;
  if (present < block.transactions && block.mayLackReceipts === true) {
    // Where each was asked for, those of transactions that have none are null.
    const isWhole = present === receipts.length;
    const given = isWhole ? receipts : toList(receipts.value.filter((receipt) => receipt != null));
    return checkBlockHash(asked, given.first, block) ?? given;
  }
  if (present < block.transactions) {
    const happened = `answered with ${present} receipts for ${block.transactions} transactions`;
    return makeFault(asked, 'NODE_ANSWER_MISSING', happened, 'elsewhere', {
      hint: 'It is behind, or it does not keep these receipts.',
    });
  }
  return checkBlockHash(asked, receipts.first, block) ?? receipts;
}

function listOfAll(answers: readonly GoodAnswer[]): ReturnType<typeof readList> {
  const only = answers.length === 1 ? answers[0] : undefined;
  if (only === undefined) return toList(answers.map((answer) => answer.value));
  const list = readList(only);
  if (list !== null) return list;
  if (only.value === null) return toList([]);
  // One call per transaction.
  return typeof only.value === 'object' ? toList([only.value]) : null;
}
