import { failure } from '../rpc/answer-call.js';
import { askWhole } from '../rpc/ask-whole.js';
import type { LearntRanges } from '../rpc/learnt-ranges.js';
import { logsOfRange } from '../rpc/logs-split.js';
import type { RpcVisit } from '../rpc/method.js';
import { NodeSaid } from '../rpc/node-said.js';
import { elementsOf } from '../rpc/raw-json.js';
import { type ChainMove, chainMoves, remembered } from './chain-moves.js';
import type { FilterState, ToldBlock } from './filter-state.js';

/** What a poll gives, and what is remembered when it was the first to say so. */
export interface Polled<S extends FilterState = FilterState> {
  /** JSON texts. */
  changes: string[];
  state: S;
}

/** The newest blocks are asked for by hash: a node that does not have one says so instead of leaving its logs out. */
const BY_HASH = 8;
/** A block filter gives so many hashes at most after a long pause: the newest. */
const MAX_HASHES = 1_024;

/** Polls a block filter: new hashes only. */
export async function pollBlocks(
  visit: RpcVisit,
  state: Extract<FilterState, { type: 'blocks' }>,
): Promise<Polled<Extract<FilterState, { type: 'blocks' }>>> {
  const move = await chainMoves(visit, state.told, MAX_HASHES);
  if (move === null) return { changes: [], state };
  const told = [...move.standing, ...move.added.map(({ number, hash }) => ({ number, hash }))];
  return {
    changes: move.added.map(({ hash }) => JSON.stringify(hash)),
    state: { type: 'blocks', told: remembered(told, visit.at.forwarder.finalized()) },
  };
}

/** Polls a log filter: what was undone first, with `removed: true`, then what is new. */
export async function pollLogs(
  visit: RpcVisit,
  state: Extract<FilterState, { type: 'logs' }>,
  learnt: LearntRanges,
): Promise<Polled<Extract<FilterState, { type: 'logs' }>>> {
  const move = await chainMoves(visit, state.told);
  if (move === null) return { changes: [], state };
  const byBlock = await newLogs(visit, state, move, learnt);
  if (byBlock === null) return { changes: [], state };
  const removed: string[] = [];
  for (const block of move.undone) removed.push(...(await logsOfUndone(visit, state, block)));
  const told: ToldBlock[] = [
    ...move.standing,
    ...move.added.map(({ number, hash }) => ({ number, hash, logs: byBlock.get(number) ?? [] })),
  ];
  return {
    changes: [...removed, ...byBlock.values()].flat(),
    state: { ...state, told: remembered(told, visit.at.forwarder.finalized()) },
  };
}

/** The logs of the new blocks by block, ascending; null where they are not of the blocks that were looked at. */
async function newLogs(
  visit: RpcVisit,
  { match, from, to }: Extract<FilterState, { type: 'logs' }>,
  move: ChainMove,
  learnt: LearntRanges,
): Promise<Map<number, string[]> | null> {
  const within = (number: number): boolean => number >= (from ?? 0) && number <= (to ?? number);
  const byHash = move.added.slice(-BY_HASH).filter((block) => within(block.number));
  const head = (move.added.at(-1) as { number: number }).number;
  const range = {
    from: Math.max(move.from, from ?? 0),
    to: Math.min(head - Math.min(BY_HASH, move.added.length), to ?? head),
  };
  const logs: string[] =
    range.from > range.to ? [] : [...(await logsOfRange(visit, match, range, learnt)).logs()];
  for (const texts of await Promise.all(byHash.map(({ hash }) => logsOfBlock(visit, match, hash)))) {
    logs.push(...texts);
  }
  const hashes = new Map(move.added.map(({ number, hash }) => [number, hash]));
  const byBlock = new Map<number, string[]>();
  for (const text of logs) {
    const { blockNumber, blockHash } = JSON.parse(text) as { blockNumber?: string; blockHash?: string };
    const number = Number(blockNumber);
    const expected = hashes.get(number);
    if (expected !== undefined && expected !== blockHash) return null;
    byBlock.set(number, [...(byBlock.get(number) ?? []), text]);
  }
  return byBlock;
}

async function logsOfBlock(visit: RpcVisit, match: object, blockHash: string): Promise<string[]> {
  const params = JSON.stringify([{ ...match, blockHash }]);
  const answer = await askWhole(visit, { method: 'eth_getLogs', params });
  if (answer.kind === 'error') throw new NodeSaid(answer.error);
  if (!answer.text.startsWith('[')) {
    throw failure({ reason: 'nonsense', detail: 'a node sent logs that are no list' });
  }
  return elementsOf(answer.text, Number.MAX_SAFE_INTEGER - 1);
}

/** The logs that were given of a block that is no more. */
async function logsOfUndone(
  visit: RpcVisit,
  { match }: { match: object },
  block: ToldBlock,
): Promise<string[]> {
  // Where they were too many to remember, a node that still has the block tells; else nobody can.
  const logs = block.logs ?? (await logsOfBlock(visit, match, block.hash).catch(() => []));
  return logs.map((text) => JSON.stringify({ ...(JSON.parse(text) as object), removed: true }));
}
