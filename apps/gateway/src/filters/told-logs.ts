import pLimit from 'p-limit';
import type { Problem } from '../http/problem.js';
import { askWhole, failure, NodeSaid } from '../rpc/ask-node.js';
import type { CallContext } from '../rpc/method.js';
import { elementsOf } from '../rpc/raw-json.js';
import { type LearntRanges, logsOfRange } from '../rpc/split-logs.js';
import { CONCURRENCY } from './chain-moves.js';
import { filterLost } from './filter-lost.js';
import type { FilterState, ToldBlock } from './filter-state.js';
import { unpackLogs } from './pack-logs.js';

type LogsState = Extract<FilterState, { type: 'logs' }>;

/** The logs of one block by its hash. Throws NodeSaid if the upstream does not have the block. */
export async function logsOfBlock(
  caller: CallContext,
  match: object,
  { number, hash }: { number: number; hash: string },
): Promise<string[]> {
  const params = JSON.stringify([{ ...match, blockHash: hash }]);
  const answer = await askWhole(caller, { method: 'eth_getLogs', params, block: number });
  if (answer.kind === 'error') throw new NodeSaid(answer.error);
  const { text } = answer;
  if (!text.startsWith('[')) {
    throw failure({ reason: 'nonsense', detail: 'a node sent logs that are no list' });
  }
  return elementsOf(text);
}

/** The reported logs of removed blocks, with `removed: true`. Throws the problem `filter-lost` if nobody has them. */
export async function logsOfUndone(
  caller: CallContext,
  state: LogsState,
  undone: readonly ToldBlock[],
): Promise<string[]> {
  const logs = await logsTold(caller, state, undone, undone);
  return logs.map((text) => JSON.stringify({ ...(JSON.parse(text) as object), removed: true }));
}

/**
 * The answer that may not have been delivered. `undone`: blocks that were removed since, newest first. Throws the
 * problem `filter-lost` if nobody has it any more.
 */
export async function logsGivenAgain(
  caller: CallContext,
  state: LogsState,
  undone: readonly ToldBlock[],
  learnt: LearntRanges,
): Promise<string[]> {
  if (state.undelivered === undefined) return [];
  const { from, undone: before } = state.undelivered;
  const blocks = state.told.filter(({ number }) => number >= from);
  const [first] = blocks as [ToldBlock];
  const removed = await logsOfUndone(caller, state, before);
  // What is older than the blocks that were checked is final.
  const last = first.number - 1;
  const range = { from: Math.max(from, state.from ?? 0), to: Math.min(last, state.to ?? last) };
  const older = range.from > range.to ? null : await logsOfRange(caller, state.match, range, { learnt });
  if (older?.sure === false) throw nowhere(range.to);
  return [...removed, ...(older?.logs() ?? []), ...(await logsTold(caller, state, blocks, undone))];
}

/** The reported logs of blocks: from what the filter keeps, or from an upstream that has as many of the block. */
async function logsTold(
  caller: CallContext,
  { match }: LogsState,
  blocks: readonly ToldBlock[],
  undone: readonly ToldBlock[],
): Promise<string[]> {
  const turn = pLimit(CONCURRENCY);
  const missing: number[] = [];
  const logs = await Promise.all(
    blocks.map(async (block) => {
      if (block.packed !== undefined) return unpackLogs(block.packed);
      if (block.count === undefined) return [];
      const found = await turn(() => logsOfBlock(caller, match, block).catch(noneWhereSaid));
      if (found.length === block.count) return found;
      if (!undone.some(({ hash }) => hash === block.hash)) throw nowhere(block.number);
      missing.push(block.number);
      return [];
    }),
  );
  if (missing.length === 0) return logs.flat();
  const [oldest, newest] = [Math.min(...missing), Math.max(...missing)];
  const why = `and the logs that were given of blocks ${oldest} to ${newest} are more than this filter keeps, and no node has them any more`;
  throw filterLost(caller, undone, why);
}

function nowhere(block: number): Problem {
  return failure({ reason: 'unavailable', detail: `no node has the logs of block ${block} at the moment` });
}

function noneWhereSaid(error: unknown): string[] {
  if (error instanceof NodeSaid) return [];
  throw error;
}
