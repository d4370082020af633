import type { FragmentInfo } from '@packhouse/bundle';
import type { FragmentRow } from './select-fragments.js';

/** A staged fragment without its body. */
export function fragmentInfo(row: FragmentRow): FragmentInfo {
  return {
    startBlock: row.block,
    endBlock: row.end_block,
    byteLength: row.byte_length,
    rawLength: row.raw_length,
    crc32: row.crc32,
  };
}
