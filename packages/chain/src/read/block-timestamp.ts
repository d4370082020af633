import type { Raw, Reader } from './reader.js';

/**
 * The block's timestamp, which some nodes repeat in transactions and logs as a QUANTITY; undefined where it is
 * absent or has another form (then it is kept as it is, like any field that no table names).
 */
export function blockTimestampOf(reader: Reader, raw: Raw): string | undefined {
  const { blockTimestamp } = raw;
  return typeof blockTimestamp === 'string' ? reader.quantity(blockTimestamp, 'blockTimestamp') : undefined;
}
