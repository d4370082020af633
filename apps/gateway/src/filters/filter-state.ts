import type { Database } from '@packhouse/database';
import type { LogFilter } from '../rpc/log-filter.js';

/** Keeps filters between polls, for all gateways together: Postgres, or Redis if there is one. */
export type FilterStore = Database['filters'];

/** A block that a filter reported and that may still be removed. */
export interface ToldBlock {
  number: number;
  hash: string;
  /** JSON texts of the logs that were reported of it; absent: too many to remember, they are asked for again. */
  logs?: readonly string[];
}

/** The state of a filter between polls; stored as JSON. */
export type FilterState =
  | {
      type: 'logs';
      /** The client's filter, without its blocks. */
      match: LogFilter;
      /** First and last block of interest; null: no such bound. */
      from: number | null;
      to: number | null;
      /** The newest blocks that were reported, ascending; the last is the cursor. Never empty. */
      told: readonly ToldBlock[];
    }
  | { type: 'blocks'; told: readonly ToldBlock[] }
  | { type: 'pending'; sequence: number };

/** A filter lives so long after it was made or polled. */
export const FILTER_TTL_MS = 300_000;
/** Filters of one key at most, or of one address without a key. */
export const FILTERS_OF_KEY = 1_000;
/** Characters of a filter's addresses and topics: they are kept with each of the filters. */
export const CRITERIA_TEXT = 65_536;

/** The id as clients know it: 128 random bits as a QUANTITY, which has no leading zeros. */
export function filterIdText(id: Buffer): string {
  return `0x${BigInt(`0x${id.toString('hex')}`).toString(16)}`;
}

/** The bytes of an id; null if it is none. */
export function filterIdBytes(text: unknown): Buffer | null {
  if (typeof text !== 'string' || !/^0x(0|[1-9a-f][0-9a-f]{0,31})$/i.test(text)) return null;
  return Buffer.from(text.slice(2).toLowerCase().padStart(32, '0'), 'hex');
}

/** Blocks that are remembered of one filter: their hashes are about as much text as the logs. */
const BLOCKS = 128;
/** Characters of logs that are remembered of one filter: 16 MiB for all that a key may have. */
const TEXT = 16_384;

/**
 * The part of the reported blocks that is worth remembering: the cursor, and what may still be removed. Logs of the
 * newest blocks are remembered as far as there is room; others are asked for again if their block is removed.
 */
export function remembered(told: readonly ToldBlock[], final: number): ToldBlock[] {
  const recent = told
    .slice(-BLOCKS)
    .filter((block, at, all) => at === all.length - 1 || block.number > final);
  let room = TEXT;
  const kept = recent.reverse().map((block) => {
    for (const log of block.logs ?? []) room -= log.length;
    return room >= 0 ? block : { number: block.number, hash: block.hash };
  });
  return kept.reverse();
}
