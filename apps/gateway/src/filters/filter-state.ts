import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Database } from '@packhouse/database';
import { splitArray } from '@packhouse/json';
import type { LogFilter } from '../rpc/log-filter.js';

/** The store of filters that all gateways share: Postgres, or Redis if there is one. */
export type FilterStore = Database['filters'];

/** A reported block that may still be removed. */
export interface ReportedBlock {
  number: number;
  hash: string;
  /** Number of its reported logs; absent: none. */
  count?: number;
  /** These logs (packLogs); absent if there was no room, then they are asked for again. */
  packed?: string;
}

/** What a poll gave, as long as nobody knows that it was delivered. */
interface Undelivered {
  /** The first block that it was about; of pending transactions the sequence number before the first. */
  from: number;
  /** The blocks that it reported as removed, newest first. */
  removed: readonly ReportedBlock[];
  /** Until then a gateway delivers it and no other poll gives it, in milliseconds since the epoch; 0: it failed. */
  until: number;
}

export interface LogsState {
  type: 'logs';
  /** The client's filter, without its blocks. */
  match: LogFilter;
  /** First and last block of the filter; null: no such bound. */
  from: number | null;
  to: number | null;
  /** The newest reported blocks, ascending; the last is the cursor. Never empty. */
  reported: readonly ReportedBlock[];
  /** Blocks from `undelivered.from` on are all kept. */
  undelivered?: Undelivered;
}

export type BlocksState = Pick<LogsState, 'reported' | 'undelivered'> & { type: 'blocks' };

export interface PendingState {
  type: 'pending';
  sequence: number;
  undelivered?: Undelivered;
}

/** The state of a filter between polls; stored as JSON. */
export type FilterState = LogsState | BlocksState | PendingState;

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

/** Most blocks kept for one filter between polls. */
const BLOCKS = 128;
/** Most characters of packed logs kept for one filter: 32 MiB for all filters of a key. */
const TEXT = 32_768;

/**
 * The reported blocks to keep: the cursor, blocks that may still be removed, the one below them, and all from
 * `undelivered` on. Logs of the newest blocks are kept as far as there is room; others are asked for again if needed.
 */
export function keepRecent(
  reported: readonly ReportedBlock[],
  final: number,
  undelivered = Number.POSITIVE_INFINITY,
): ReportedBlock[] {
  const last = reported.length - 1;
  const kept = reported.filter(
    ({ number }, at) => at === last || number >= undelivered || (at > last - BLOCKS && number >= final),
  );
  let room = TEXT;
  for (let at = kept.length - 1; at >= 0; at--) {
    const { packed, ...block } = kept[at] as ReportedBlock;
    room -= packed?.length ?? 0;
    if (room < 0) kept[at] = block;
  }
  return kept;
}

/** The state of a filter whose answers were all delivered. */
export function markDelivered(state: FilterState, final: number): FilterState {
  const { undelivered, ...rest } = state;
  return 'reported' in rest ? { ...rest, reported: keepRecent(rest.reported, final) } : rest;
}

/**
 * Text that most logs have parts of, so that a single log packs to less than half (mainnet: 640 to 284 characters). It
 * is part of the format: filters that were packed with another text cannot be unpacked.
 */
const COMMON = Buffer.from(
  '{"address":"0x","topics":["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",' +
    '"0x000000000000000000000000","0x000000000000000000000000"],"data":"0x0000000000000000000000000000000000000000000000",' +
    '"blockNumber":"0x","blockTimestamp":"0x","transactionHash":"0x","transactionIndex":"0x","blockHash":"0x",' +
    '"logIndex":"0x","removed":false}',
);

/** Packs JSON texts of logs into a short text, byte for byte. */
export function packLogs(logs: readonly string[]): string {
  return deflateRawSync(`[${logs.join(',')}]`, { dictionary: COMMON }).toString('base64');
}

/** The JSON texts that were packed. */
export function unpackLogs(packed: string): string[] {
  return splitArray(inflateRawSync(Buffer.from(packed, 'base64'), { dictionary: COMMON }));
}
