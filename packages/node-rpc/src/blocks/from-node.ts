import type { BlockFacts, Mode } from '../calls/capabilities.js';
import type { CallContext, UpstreamNode } from '../calls/node.js';
import type { FetchWish } from '../heads/choose-node.js';
import type { Fault } from '../upstream/fault.js';
import { askCapable } from './ask-capable.js';
import type { FetchedBlock, MethodAnswers } from './block-source.js';
import { checkReceipts, isFault, type ReadBlock, readBlock, receiptsOf } from './read-block.js';
import { type ReadTraces, readTraces } from './read-traces.js';

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
    })),
    context,
  );
  const answered = new Map<number, MethodAnswers[]>();
  const faults = new Map<number, Fault>();
  const blocks: ReadBlock[] = [];
  for (const [index, answer] of answers.entries()) {
    const number = numbers[index] as number;
    const read = answer.ok ? readBlock(node, number, answer.value) : answer.fault;
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

  const fetched = new Map<number, FetchedBlock>();
  for (const { block, number } of blocks) {
    fetched.set(number, {
      number,
      upstream: node.name,
      client: node.client,
      block,
      ...(wish.receipts ? { receipts: [] } : {}),
      ...(wish.traces ? { traces: [] } : {}),
      bytes: 0,
      answered: answered.get(number) ?? [],
    });
  }
  const note = (number: number, { method }: Mode, answers: readonly { bytes: number }[]): void => {
    const bytes = answers.reduce((sum, one) => sum + one.bytes, 0);
    answered.get(number)?.push({ method, calls: answers.length, bytes });
  };
  await Promise.all([
    wish.receipts ? addReceipts(node, blocks, context, fetched, faults, note) : undefined,
    wish.traces ? addTraces(node, blocks, context, fetched, faults, note) : undefined,
  ]);

  return numbers.map((number): NodeOutcome => {
    const fault = faults.get(number);
    const block = fetched.get(number);
    if (fault === undefined && block !== undefined) {
      block.bytes = block.answered.reduce((sum, each) => sum + each.bytes, 0);
      return { ok: true, number, fetched: block };
    }
    if (block !== undefined) dropStream(block);
    return { ok: false, number, fault: fault as Fault };
  });
}

type Note = (number: number, mode: Mode, answers: readonly { bytes: number }[]) => void;

async function addReceipts(
  node: UpstreamNode,
  blocks: readonly ReadBlock[],
  context: CallContext,
  fetched: Map<number, FetchedBlock>,
  faults: Map<number, Fault>,
  note: Note,
): Promise<void> {
  const wanted = blocks.filter((block) => block.transactionHashes.length > 0);
  const found = await askCapable(node, node.capabilities.receipts, wanted, context, (mode, block, answers) =>
    checkReceipts(node, mode, block, answers),
  );
  for (const [number, answer] of found) {
    const block = fetched.get(number) as FetchedBlock;
    if (!answer.ok) {
      faults.set(number, answer.fault);
      continue;
    }
    block.receipts = receiptsOf(answer.answers) ?? [];
    note(number, answer.mode, answer.answers);
  }
}

async function addTraces(
  node: UpstreamNode,
  blocks: readonly ReadBlock[],
  context: CallContext,
  fetched: Map<number, FetchedBlock>,
  faults: Map<number, Fault>,
  note: Note,
): Promise<void> {
  const read = new Map<BlockFacts, ReadTraces>();
  const { traces } = node.capabilities;
  // trace_block also returns the rewards of a proof-of-work block without transactions; debug tracers return only
  // transactions.
  const wanted = blocks.filter(
    (block) =>
      !block.untraceable && (block.transactionHashes.length > 0 || traces.mode?.shape === 'trace_block'),
  );
  const found = await askCapable(node, traces, wanted, context, (mode, block, answers) => {
    const [answer] = answers;
    if (answer === undefined) return null;
    const result = readTraces(node, mode, block, answer);
    read.set(block, result);
    return result.ok ? null : result.fault;
  });
  for (const block of blocks) {
    const answer = found.get(block.number);
    const target = fetched.get(block.number) as FetchedBlock;
    if (answer === undefined) continue;
    if (!answer.ok) {
      faults.set(block.number, answer.fault);
      continue;
    }
    const result = read.get(block);
    if (result?.ok === true) target.traces = result.traces;
    note(block.number, answer.mode, answer.answers);
  }
}

/** Closes the connection of traces that will not be read. */
function dropStream(block: FetchedBlock): void {
  if (block.traces === undefined || Array.isArray(block.traces)) return;
  void block.traces[Symbol.asyncIterator]().return?.();
}
