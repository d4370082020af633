import type { LogFilter } from '../rpc/params/log-filter.js';

/** A block that a filter has told of and that may still be undone. */
export interface ToldBlock {
  number: number;
  hash: string;
  /** JSON texts of the logs that were given of it; absent: too many to remember, they are asked for again. */
  logs?: readonly string[];
}

/** What is remembered of a filter between polls; stored as JSON. */
export type FilterState =
  | {
      type: 'logs';
      /** What the client asks for, without its blocks. */
      match: LogFilter;
      /** First and last block of interest; null: no such bound. */
      from: number | null;
      to: number | null;
      /** The newest blocks that were told of, ascending; the last is the cursor. Never empty. */
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

/** The bytes of an id; null where it is none. */
export function filterIdBytes(text: unknown): Buffer | null {
  if (typeof text !== 'string' || !/^0x(0|[1-9a-f][0-9a-f]{0,31})$/i.test(text)) return null;
  return Buffer.from(text.slice(2).toLowerCase().padStart(32, '0'), 'hex');
}
