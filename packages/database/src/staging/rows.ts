import type { FragmentInfo } from '@packhouse/bundle';
import { statement } from '../connection/connections.js';

/** A row of staged_block. */
export interface StagedBlockRow {
  block: number;
  hash: Buffer;
  parent_hash: Buffer;
  timestamp: number;
  transaction_count: number;
  proofs: number;
  /** Id of the upstream's client; null: unknown. */
  client: number | null;
  not_proved: string;
}

/** $1 network id, $2 start, $3 end. Partitions outside are pruned. */
export const selectBlocks = statement(
  'staging/select-blocks',
  `SELECT block, hash, parent_hash, timestamp, transaction_count, proofs, client, not_proved
   FROM packhouse.staged_block
   WHERE network_id = $1 AND block BETWEEN $2 AND $3
   ORDER BY block`,
);

/** A row of fragment without its body. */
export interface FragmentRow {
  block: number;
  end_block: number;
  byte_length: number;
  raw_length: number;
  crc32: number;
}

/** A staged fragment as returned to callers. */
export function fragmentInfo(row: FragmentRow): FragmentInfo {
  return {
    startBlock: row.block,
    endBlock: row.end_block,
    byteLength: row.byte_length,
    rawLength: row.raw_length,
    crc32: row.crc32,
  };
}
