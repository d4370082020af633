import pLimit from 'p-limit';
import { Problem } from '../http/problem.js';
import { type BlockLink, linkAt } from '../rpc/ask-node.js';
import type { CallContext } from '../rpc/method.js';
import { type LearntRanges, logsOfRange } from '../rpc/split-logs.js';
import { type ChainMove, CONCURRENCY, chainMoves } from './chain-moves.js';
import { type FilterState, remembered, type ToldBlock } from './filter-state.js';
import { packLogs } from './pack-logs.js';
import { logsGivenAgain, logsOfBlock, logsOfUndone } from './told-logs.js';

type BlocksState = Extract<FilterState, { type: 'blocks' }>;
type LogsState = Extract<FilterState, { type: 'logs' }>;

/** The answer to a poll, and the state to store unless another poll wrote first. */
export interface Polled<S extends FilterState = FilterState> {
  /** JSON texts. */
  changes: string[];
  /** If there are changes, they are `undelivered`. */
  state: S;
}

/** What is new since the last poll. */
interface News {
  changes: string[];
  told: ToldBlock[];
  undone: readonly ToldBlock[];
  /** The first new block. */
  from: number;
}

/** The newest blocks are asked for by hash: an upstream without one fails instead of omitting its logs. */
const BY_HASH = 8;
/** So are blocks that no upstream is known to have yet, up to this many; a later poll asks for the rest. */
const MOST_BY_HASH = 64;
/** And blocks of whose logs a range has none, if another upstream may be on another branch; the next poll the rest. */
const MOST_EMPTY = 256;

/** Polls a block filter: new hashes only. */
export async function pollBlocks(caller: CallContext, state: BlocksState): Promise<Polled<BlocksState>> {
  const { undelivered } = state;
  const again =
    undelivered === undefined ? [] : state.told.filter(({ number }) => number >= undelivered.from);
  // Every block is reported, final ones too.
  const move = await chainMoves(caller, state.told, -1);
  const news = move && {
    changes: hashesOf(move.added),
    told: [...move.standing, ...move.added.map(({ number, hash }) => ({ number, hash }))],
    undone: move.undone,
    from: move.from,
  };
  return joined(caller, state, hashesOf(again), news);
}

/** Polls a log filter: first the logs of removed blocks, with `removed: true`, then the new ones. */
export async function pollLogs(
  caller: CallContext,
  state: LogsState,
  learnt: LearntRanges,
): Promise<Polled<LogsState>> {
  const news = await newsOfLogs(caller, state, learnt);
  const again = await logsGivenAgain(caller, state, news?.undone ?? [], learnt);
  return joined(caller, state, again, news);
}

/**
 * What was not delivered is given again, as it was. What is new comes with it if both can be given once more as one
 * answer, and if that is not too much; otherwise the next poll gives it.
 */
function joined<S extends LogsState | BlocksState>(
  caller: CallContext,
  state: S,
  again: string[],
  news: News | null,
): Polled<S> {
  if (news === null) return { changes: again, state };
  const { undelivered, ...rest } = state;
  const changes = [...again, ...news.changes];
  if (undelivered !== undefined && !(continues(news) && fits(caller, changes))) {
    return { changes: again, state };
  }
  const { from, undone } = undelivered ?? news;
  const given = changes.length === 0 ? {} : { undelivered: { from, undone, until: 0 } };
  const told = remembered(news.told, finalOf(caller), given.undelivered?.from);
  return { changes, state: { ...(rest as S), told, ...given } };
}

/** Whether what is new removes nothing, and its first block was checked; final blocks before that are not kept. */
function continues({ undone, told, from }: News): boolean {
  return undone.length === 0 && told.some(({ number }) => number === from);
}

function fits(caller: CallContext, changes: readonly string[]): boolean {
  const { maxLogs, maxAnswerBytes } = caller.at.network.rpc;
  return changes.length <= maxLogs && changes.reduce((sum, { length }) => sum + length, 0) <= maxAnswerBytes;
}

async function newsOfLogs(caller: CallContext, state: LogsState, learnt: LearntRanges): Promise<News | null> {
  let move = await chainMoves(caller, state.told, finalOf(caller));
  if (move === null) return null;
  let logs: Awaited<ReturnType<typeof newLogs>>;
  try {
    logs = await newLogs(caller, state, move, learnt);
  } catch (error) {
    move = await shortened(caller, move, error);
    logs = await newLogs(caller, state, move, learnt);
  }
  if (logs === null) return null;
  const { undone, standing, from } = move;
  const { added, byBlock } = logs;
  const [first] = added as [BlockLink];
  // Below the first block that was checked, so that a branch that begins there is found.
  const below = first.number > from ? [{ number: first.number - 1, hash: first.parentHash }] : [];
  const told = [...below, ...added].map(({ number, hash }) => toldBlock(number, hash, byBlock.get(number)));
  const removed = await logsOfUndone(caller, state, undone);
  return {
    changes: [...removed, ...byBlock.values()].flat(),
    told: [...standing, ...told],
    undone,
    from,
  };
}

function toldBlock(number: number, hash: string, logs: readonly string[] = []): ToldBlock {
  return logs.length === 0 ? { number, hash } : { number, hash, count: logs.length, packed: packLogs(logs) };
}

function hashesOf(blocks: readonly { hash: string }[]): string[] {
  return blocks.map(({ hash }) => JSON.stringify(hash));
}

function finalOf(caller: CallContext): number {
  return caller.at.forwarder.finalized() ?? -1;
}

/** The new blocks whose logs fit into one answer; the next poll sees the rest. Throws other errors. */
async function shortened(caller: CallContext, move: ChainMove, error: unknown): Promise<ChainMove> {
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
async function newLogs(
  caller: CallContext,
  { match, from, to }: LogsState,
  move: ChainMove,
  learnt: LearntRanges,
): Promise<{ added: BlockLink[]; byBlock: Map<number, string[]> } | null> {
  const { number: first } = move.added[0] as BlockLink;
  const { number: last } = move.added.at(-1) as BlockLink;
  const { forwarder } = caller.at;
  /** Blocks up to here are asked for as a range. */
  const split = Math.max(first - 1, Math.min(last - BY_HASH, forwarder.head() ?? -1));
  if (last - split > MOST_BY_HASH) return null;
  const range = { from: Math.max(move.from, from ?? 0), to: Math.min(split, to ?? split) };
  const logs = range.from > range.to ? null : await logsOfRange(caller, match, range, { learnt });
  if (logs?.sure === false) return null;
  const found = sorted(logs?.logs() ?? [], move.added);
  if (found === null) return null;
  // A range that has no log of a block does not tell which block of this number the upstream has.
  const others = forwarder.status().length > 1;
  const wanted = move.added.filter(
    ({ number }) =>
      number >= (from ?? 0) && number <= (to ?? number) && (number > split || (others && !found.has(number))),
  );
  const end = wanted[MOST_EMPTY]?.number ?? last + 1;
  const added = move.added.filter(({ number }) => number < end);
  const turn = pLimit(CONCURRENCY);
  const asked = wanted.slice(0, MOST_EMPTY).map((block) => turn(() => logsOfBlock(caller, match, block)));
  const byHash = sorted((await Promise.all(asked)).flat(), added);
  if (byHash === null) return null;
  const all = [...found, ...byHash].filter(([number]) => number < end).sort(([a], [b]) => a - b);
  return { added, byBlock: new Map(all) };
}

/** Logs by the number of their block; null if one is of another block than the one of this number. */
function sorted(texts: readonly string[], blocks: readonly BlockLink[]): Map<number, string[]> | null {
  const hashes = new Map(blocks.map(({ number, hash }) => [number, hash]));
  const byBlock = new Map<number, string[]>();
  for (const text of texts) {
    const { blockNumber, blockHash } = JSON.parse(text) as { blockNumber?: string; blockHash?: string };
    const number = Number(blockNumber);
    const expected = hashes.get(number);
    if (expected !== undefined && expected !== blockHash) return null;
    const ofBlock = byBlock.get(number);
    if (ofBlock === undefined) byBlock.set(number, [text]);
    else ofBlock.push(text);
  }
  return byBlock;
}
