import type { Mode } from '../calls/capabilities.js';
import type { CallContext, UpstreamNode } from '../calls/node.js';
import type { FetchWish } from '../heads/choose-node.js';
import { type Fault, isFault } from '../upstream/fault.js';
import { askCapable } from './ask-capable.js';
import type { FetchedBlock, MethodAnswers } from './block-source.js';
import { emptyPart, isStream, LazyBlock, type Part } from './lazy-block.js';
import { type ReadBlock, readBlock } from './read-block.js';
import { readReceipts } from './read-receipts.js';
import { readTraces } from './read-traces.js';

/** One upstream's result for one block. */
type NodeOutcome =
  | { ok: true; number: number; fetched: FetchedBlock }
  | { ok: false; number: number; fault: Fault };

/**
 * Fetches blocks from one upstream: first the blocks, then receipts and traces by their hashes, so that a
 * reorganisation cannot mix them. All of a block comes from one upstream, so that a fault can be attributed to it.
 * Rejects only when aborted.
 */
export async function fetchFromNode(
  node: UpstreamNode,
  numbers: readonly number[],
  wish: FetchWish,
  context: CallContext,
): Promise<NodeOutcome[]> {
  const answers = await node.callAll(
    numbers.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${number.toString(16)}`, true],
      block: number,
      weight: 1,
      oversize: 'assemble',
      raw: true,
    })),
    context,
  );
  const answered = new Map<number, MethodAnswers[]>();
  const faults = new Map<number, Fault>();
  const blocks: ReadBlock[] = [];
  for (const [index, answer] of answers.entries()) {
    const number = numbers[index] as number;
    const read = answer.ok ? readBlock(node, number, answer) : answer.fault;
    if (isFault(read)) {
      faults.set(number, read);
      continue;
    }
    const size = answer.ok ? answer.bytes : 0;
    answered.set(number, [{ method: 'eth_getBlockByNumber', calls: 1, bytes: size }]);
    blocks.push(read);
    // A head that was never asked for stays unknown: this only shows that the upstream has this block.
    if (node.head !== null && number > node.head) node.head = number;
  }

  const note = (number: number, { method }: Mode, answers: readonly { bytes: number }[]): void => {
    const bytes = answers.reduce((sum, one) => sum + one.bytes, 0);
    answered.get(number)?.push({ method, calls: answers.length, bytes });
  };
  const [receipts, traces] = await Promise.all([
    wish.receipts ? fetchReceipts(node, blocks, context, faults, note) : undefined,
    wish.traces ? fetchTraces(node, blocks, context, faults, note) : undefined,
  ]);
  const outcomes = new Map<number, NodeOutcome>();
  for (const { block, header, number, transactionBytes } of blocks) {
    const own = traces?.get(number) ?? (wish.traces ? emptyPart() : undefined);
    if (faults.has(number)) {
      // The connection of traces that will not be read.
      if (own !== undefined && isStream(own)) void own[Symbol.asyncIterator]().return?.();
      continue;
    }
    const fetched = new LazyBlock({
      number,
      upstream: node.name,
      client: node.client,
      block,
      header,
      transactionBytes,
      receipts: receipts?.get(number) ?? (wish.receipts ? emptyPart() : undefined),
      traces: own,
      answered: answered.get(number) ?? [],
    });
    outcomes.set(number, { ok: true, number, fetched });
  }
  return numbers.map(
    (number) => outcomes.get(number) ?? { ok: false, number, fault: faults.get(number) as Fault },
  );
}

type Note = (number: number, mode: Mode, answers: readonly { bytes: number }[]) => void;

/** The receipts of the blocks that have transactions. */
async function fetchReceipts(
  node: UpstreamNode,
  blocks: readonly ReadBlock[],
  context: CallContext,
  faults: Map<number, Fault>,
  note: Note,
): Promise<Map<number, Part<unknown[]>>> {
  const parts = new Map<number, Part<unknown[]>>();
  const wanted = blocks.filter((block) => block.transactions > 0);
  const found = await askCapable(
    node,
    node.capabilities.receipts,
    wanted,
    context,
    (mode, block, answers) => {
      const read = readReceipts(node, mode, block, answers);
      if (!read.ok) return read.fault;
      parts.set(block.number, read.receipts);
      return null;
    },
  );
  for (const [number, answer] of found) {
    if (answer.ok) note(number, answer.mode, answer.answers);
    else faults.set(number, answer.fault);
  }
  return parts;
}

/** The traces of the blocks that have any. */
async function fetchTraces(
  node: UpstreamNode,
  blocks: readonly ReadBlock[],
  context: CallContext,
  faults: Map<number, Fault>,
  note: Note,
): Promise<Map<number, Part<unknown[]> | AsyncIterable<unknown>>> {
  const parts = new Map<number, Part<unknown[]> | AsyncIterable<unknown>>();
  const { traces } = node.capabilities;
  // trace_block also returns the rewards of a proof-of-work block without transactions; debug tracers return only
  // transactions.
  const wanted = blocks.filter(
    (block) => !block.untraceable && (block.transactions > 0 || traces.mode?.shape === 'trace_block'),
  );
  const found = await askCapable(node, traces, wanted, context, (mode, block, answers) => {
    const [answer] = answers;
    if (answer === undefined) return null;
    const read = readTraces(node, mode, block, answer);
    if (!read.ok) return read.fault;
    parts.set(block.number, read.traces);
    return null;
  });
  for (const [number, answer] of found) {
    if (answer.ok) note(number, answer.mode, answer.answers);
    else faults.set(number, answer.fault);
  }
  return parts;
}
