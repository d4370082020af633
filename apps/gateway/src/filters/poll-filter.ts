import pLimit from 'p-limit';
import { Problem } from '../http/problem.js';
import { askWhole, type BlockLink, failure, linkAt, NodeSaid } from '../rpc/ask-node.js';
import type { CallContext } from '../rpc/method.js';
import { elementsOf } from '../rpc/raw-json.js';
import { type LearntRanges, logsOfRange } from '../rpc/split-logs.js';
import { type ChainMove, CONCURRENCY, chainMoves } from './chain-moves.js';
import { type FilterState, remembered, type ToldBlock } from './filter-state.js';

type BlocksState = Extract<FilterState, { type: 'blocks' }>;
type LogsState = Extract<FilterState, { type: 'logs' }>;

/** The answer to a poll, and the state to store unless another poll wrote first. */
export interface Polled<S extends FilterState = FilterState> {
  /** JSON texts. */
  changes: string[];
  state: S;
}

/** The newest blocks are asked for by hash: an upstream without one fails instead of omitting its logs. */
const BY_HASH = 8;
/** So are blocks that no upstream is known to have yet, up to this many; a later poll asks for the rest. */
const MOST_BY_HASH = 64;

/** Polls a block filter: new hashes only. */
export async function pollBlocks(caller: CallContext, state: BlocksState): Promise<Polled<BlocksState>> {
  // Every block is reported, final ones too.
  const move = await chainMoves(caller, state.told, -1);
  if (move === null) return { changes: [], state };
  const told = [...move.standing, ...move.added.map(({ number, hash }) => ({ number, hash }))];
  return {
    changes: move.added.map(({ hash }) => JSON.stringify(hash)),
    state: { type: 'blocks', told: remembered(told, finalOf(caller)) },
  };
}

/** Polls a log filter: first the logs of removed blocks, with `removed: true`, then the new ones. */
export async function pollLogs(
  caller: CallContext,
  state: LogsState,
  learnt: LearntRanges,
): Promise<Polled<LogsState>> {
  let move = await chainMoves(caller, state.told, finalOf(caller));
  if (move === null) return { changes: [], state };
  let byBlock: Map<number, string[]> | null;
  try {
    byBlock = await newLogs(caller, state, move, learnt);
  } catch (error) {
    move = await shortened(caller, move, error);
    byBlock = await newLogs(caller, state, move, learnt);
  }
  if (byBlock === null) return { changes: [], state };
  const removed: string[][] = [];
  for (const block of move.undone) removed.push(await logsOfUndone(caller, state, block));
  const told: ToldBlock[] = [
    ...move.standing,
    ...move.added.map(({ number, hash }) => ({ number, hash, logs: byBlock.get(number) ?? [] })),
  ];
  return {
    changes: [...removed, ...byBlock.values()].flat(),
    state: { ...state, told: remembered(told, finalOf(caller)) },
  };
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
 * The logs of the new blocks by block, ascending. Null if they are of other blocks than those checked, or if an
 * upstream may not have had all blocks.
 */
async function newLogs(
  caller: CallContext,
  { match, from, to }: LogsState,
  move: ChainMove,
  learnt: LearntRanges,
): Promise<Map<number, string[]> | null> {
  const { number: first } = move.added[0] as BlockLink;
  const { number: last } = move.added.at(-1) as BlockLink;
  /** Blocks up to here are asked for as a range. */
  const split = Math.max(first - 1, Math.min(last - BY_HASH, caller.at.forwarder.head() ?? -1));
  if (last - split > MOST_BY_HASH) return null;
  const range = { from: Math.max(move.from, from ?? 0), to: Math.min(split, to ?? split) };
  const logs = range.from > range.to ? null : await logsOfRange(caller, match, range, learnt);
  if (logs?.sure === false) return null;
  const byHash = move.added.filter(
    ({ number }) => number > split && number >= (from ?? 0) && number <= (to ?? number),
  );
  const turn = pLimit(CONCURRENCY);
  const newest = await Promise.all(byHash.map((block) => turn(() => logsOfBlock(caller, match, block))));
  const hashes = new Map(move.added.map(({ number, hash }) => [number, hash]));
  const byBlock = new Map<number, string[]>();
  for (const text of [logs?.logs() ?? [], ...newest].flat()) {
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

async function logsOfBlock(
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
  return elementsOf(text, Number.MAX_SAFE_INTEGER - 1);
}

function noneWhereSaid(error: unknown): string[] {
  if (error instanceof NodeSaid) return [];
  throw error;
}

/** The reported logs of a removed block. */
async function logsOfUndone(
  caller: CallContext,
  { match }: { match: object },
  block: ToldBlock,
): Promise<string[]> {
  // If they were too many to keep, only an upstream that still has the block knows them.
  const logs = block.logs ?? (await logsOfBlock(caller, match, block).catch(noneWhereSaid));
  return logs.map((text) => JSON.stringify({ ...(JSON.parse(text) as object), removed: true }));
}
