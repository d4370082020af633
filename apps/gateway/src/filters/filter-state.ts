import type { Database } from '@packhouse/database';
import type { LogFilter } from '../rpc/log-filter.js';

/** The store of filters that all gateways share: Postgres, or Redis if there is one. */
export type FilterStore = Database['filters'];

/** A reported block that may still be removed. */
export interface ToldBlock {
  number: number;
  hash: string;
  /** JSON texts of its reported logs; absent if they were too many to keep, then they are asked for again. */
  logs?: readonly string[];
}

/** The state of a filter between polls; stored as JSON. */
export type FilterState =
  | {
      type: 'logs';
      /** The client's filter, without its blocks. */
      match: LogFilter;
      /** First and last block of the filter; null: no such bound. */
      from: number | null;
      to: number | null;
      /** The newest reported blocks, ascending; the last is the cursor. Never empty. */
      told: readonly ToldBlock[];
    }
  | { type: 'blocks'; told: readonly ToldBlock[] }
  | { type: 'pending'; sequence: number };

/** Life of a filter after it was created or polled, in milliseconds. */
export const FILTER_TTL_MS = 300_000;
/** Most filters of one key, or of one address without a key. */
export const FILTERS_OF_KEY = 1_000;
/** Most characters of a filter's addresses and topics: they are stored with each filter. */
export const CRITERIA_TEXT = 65_536;

/** The id that clients get: 128 random bits as a QUANTITY, without leading zeros. */
export function filterIdText(id: Buffer): string {
  return `0x${BigInt(`0x${id.toString('hex')}`).toString(16)}`;
}

/** The bytes of an id; null if the text is not an id. */
export function filterIdBytes(text: unknown): Buffer | null {
  if (typeof text !== 'string' || !/^0x(0|[1-9a-f][0-9a-f]{0,31})$/i.test(text)) return null;
  return Buffer.from(text.slice(2).toLowerCase().padStart(32, '0'), 'hex');
}

/** Most blocks kept for one filter: their hashes are about as much text as the logs. */
const BLOCKS = 128;
/** Most characters of logs kept for one filter: 16 MiB for all filters of a key. */
const TEXT = 16_384;

/**
 * The reported blocks to keep: the cursor, and blocks that may still be removed. Logs of the newest blocks are kept as
 * far as there is room; others are asked for again if their block is removed.
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
