import { getOrAdd } from '@packhouse/runtime';
import pLimit from 'p-limit';
import { Problem } from '../http/problem.js';
import { type BlockLink, linkAt } from '../rpc/ask-node.js';
import type { CallContext } from '../rpc/method.js';
import { evmLogs, getLogsInRange, type RangeLimit } from '../rpc/split-logs.js';
import { type ChainChange, CONCURRENCY, findChainChange } from './chain-changes.js';
import {
  type BlocksState,
  type FilterState,
  keepRecent,
  type LogsState,
  packLogs,
  type ReportedBlock,
} from './filter-state.js';
import { getBlockLogs, getRemovedLogs, getUndeliveredLogs } from './reported-logs.js';

/** The answer to a poll, and the state to store unless another poll wrote first. */
export interface PollResult {
  /** JSON texts. */
  changes: string[];
  /** If there are changes, they are `undelivered`. */
  state: FilterState;
}

/** What is new since the last poll. */
interface NewChanges {
  changes: string[];
  reported: ReportedBlock[];
  removed: readonly ReportedBlock[];
  /** The first new block. */
  from: number;
}

/** The newest blocks are asked for by hash: an upstream without one fails instead of omitting its logs. */
const BY_HASH = 8;
/** So are blocks that no upstream is known to have yet, up to this many; a later poll asks for the rest. */
const MAX_BY_HASH = 64;
/** And blocks of whose logs a range has none, if another upstream may be on another branch; the next poll the rest. */
const MAX_EMPTY = 256;

/** Polls a block filter: new hashes only. */
export async function pollBlocks(caller: CallContext, state: BlocksState): Promise<PollResult> {
  const { undelivered } = state;
  const again =
    undelivered === undefined ? [] : state.reported.filter(({ number }) => number >= undelivered.from);
  // Every block is reported, final ones too.
  const move = await findChainChange(caller, state.reported, -1);
  const news = move && {
    changes: getHashes(move.added),
    reported: [...move.kept, ...move.added.map(({ number, hash }) => ({ number, hash }))],
    removed: move.removed,
    from: move.from,
  };
  return joinChanges(caller, state, getHashes(again), news);
}

/** Polls a log filter: first the logs of removed blocks, with `removed: true`, then the new ones. */
export async function pollLogs(
  caller: CallContext,
  state: LogsState,
  learnt: RangeLimit,
): Promise<PollResult> {
  const news = await getNewChanges(caller, state, learnt);
  const again = await getUndeliveredLogs(caller, state, news?.removed ?? [], learnt);
  return joinChanges(caller, state, again, news);
}

/**
 * What was not delivered is given again, as it was. What is new comes with it if both can be given once more as one
 * answer, and if that is not too much; otherwise the next poll gives it.
 */
function joinChanges(
  caller: CallContext,
  state: LogsState | BlocksState,
  again: string[],
  news: NewChanges | null,
): PollResult {
  if (news === null) return { changes: again, state };
  const { undelivered } = state;
  const changes = [...again, ...news.changes];
  if (undelivered !== undefined && !(continues(news) && fitsInAnswer(caller, changes))) {
    return { changes: again, state };
  }
  const { from, removed } = undelivered ?? news;
  const pending = changes.length === 0 ? undefined : { from, removed, until: 0 };
  const reported = keepRecent(news.reported, getFinalized(caller), pending?.from);
  return { changes, state: { ...state, reported, undelivered: pending } };
}

/** Whether what is new removes nothing, and its first block was checked; final blocks before that are not kept. */
function continues({ removed, reported, from }: NewChanges): boolean {
  return removed.length === 0 && reported.some(({ number }) => number === from);
}

function fitsInAnswer(caller: CallContext, changes: readonly string[]): boolean {
  const { maxLogs, maxAnswerBytes } = caller.network.config.rpc;
  return changes.length <= maxLogs && changes.reduce((sum, { length }) => sum + length, 0) <= maxAnswerBytes;
}

async function getNewChanges(
  caller: CallContext,
  state: LogsState,
  learnt: RangeLimit,
): Promise<NewChanges | null> {
  const all = await findChainChange(caller, state.reported, getFinalized(caller));
  if (all === null) return null;
  const getLogs = async (move: ChainChange) => ({
    move,
    logs: await getNewLogs(caller, state, move, learnt),
  });
  const { move, logs } = await getLogs(all).catch(async (error: unknown) =>
    getLogs(await shortenChange(caller, all, error)),
  );
  if (logs === null) return null;
  const { removed, kept, from } = move;
  const { added, byBlock } = logs;
  const [first] = added as [BlockLink];
  // Below the first block that was checked, so that a branch that begins there is found.
  const below = first.number > from ? [{ number: first.number - 1, hash: first.parentHash }] : [];
  const reported = [...below, ...added].map(({ number, hash }) =>
    toReportedBlock(number, hash, byBlock.get(number)),
  );
  const removedLogs = await getRemovedLogs(caller, state, removed);
  return {
    changes: [...removedLogs, ...byBlock.values()].flat(),
    reported: [...kept, ...reported],
    removed,
    from,
  };
}

function toReportedBlock(number: number, hash: string, logs: readonly string[] = []): ReportedBlock {
  return logs.length === 0 ? { number, hash } : { number, hash, count: logs.length, packed: packLogs(logs) };
}

function getHashes(blocks: readonly { hash: string }[]): string[] {
  return blocks.map(({ hash }) => JSON.stringify(hash));
}

function getFinalized(caller: CallContext): number {
  return caller.network.forwarder.finalized() ?? -1;
}

/** The new blocks whose logs fit into one answer; the next poll sees the rest. Throws other errors. */
async function shortenChange(caller: CallContext, move: ChainChange, error: unknown): Promise<ChainChange> {
  const tooMany = error instanceof Problem && error.reason === 'too-many-logs';
  const range = tooMany ? (error.members.suggestedRange as { toBlock: string } | undefined) : undefined;
  if (range === undefined) throw error;
  const last = Number(range.toBlock);
  const added = move.added.filter(({ number }) => number <= last);
  if (added.length > 0) return { ...move, added };
  // It ends among final blocks, which were not checked.
  const link = await linkAt(caller, last);
  if (link === null) throw error;
  return { ...move, added: [link] };
}

/**
 * The logs of the new blocks by block, ascending, and the new blocks that they are of: fewer if there is too much to
 * ask. Null if they are of other blocks than those checked, or if an upstream may not have had all blocks.
 */
async function getNewLogs(
  caller: CallContext,
  { match, from, to }: LogsState,
  move: ChainChange,
  learnt: RangeLimit,
): Promise<{ added: BlockLink[]; byBlock: Map<number, string[]> } | null> {
  const { number: first } = move.added[0] as BlockLink;
  const { number: last } = move.added.at(-1) as BlockLink;
  const { forwarder } = caller.network;
  /** Blocks up to here are asked for as a range. */
  const split = Math.max(first - 1, Math.min(last - BY_HASH, forwarder.head() ?? -1));
  if (last - split > MAX_BY_HASH) return null;
  const range = { from: Math.max(move.from, from ?? 0), to: Math.min(split, to ?? split) };
  const logs =
    range.from > range.to ? null : await getLogsInRange(caller, evmLogs(caller, match), range, learnt);
  if (logs?.sure === false) return null;
  const found = groupByBlock(logs?.logs() ?? [], move.added);
  if (found === null) return null;
  // A range that has no log of a block does not tell which block of this number the upstream has.
  const others = forwarder.status().length > 1;
  const unsure = move.added.filter(
    ({ number }) =>
      number >= (from ?? 0) && number <= (to ?? number) && (number > split || (others && !found.has(number))),
  );
  const end = unsure[MAX_EMPTY]?.number ?? last + 1;
  const added = move.added.filter(({ number }) => number < end);
  const turn = pLimit(CONCURRENCY);
  const requests = unsure.slice(0, MAX_EMPTY).map((block) => turn(() => getBlockLogs(caller, match, block)));
  const byHash = groupByBlock((await Promise.all(requests)).flat(), added);
  if (byHash === null) return null;
  const all = [...found, ...byHash].filter(([number]) => number < end).sort(([a], [b]) => a - b);
  return { added, byBlock: new Map(all) };
}

/** Logs by the number of their block; null if one is of another block than the one of this number. */
function groupByBlock(texts: readonly string[], blocks: readonly BlockLink[]): Map<number, string[]> | null {
  const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
  const byBlock = new Map<number, string[]>();
  for (const text of texts) {
    const { blockNumber, blockHash } = JSON.parse(text) as { blockNumber?: string; blockHash?: string };
    const number = Number(blockNumber);
    const expected = hashes.get(number);
    if (expected !== undefined && expected !== blockHash) return null;
    getOrAdd(byBlock, number, () => []).push(text);
  }
  return byBlock;
}
