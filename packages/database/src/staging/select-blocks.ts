import { statement } from '../connection/statement.js';

/** A row of staged_block. */
export interface StagedBlockRow {
  block: number;
  hash: Buffer;
  parent_hash: Buffer;
  timestamp: number;
  transaction_count: number;
  proofs: number;
  /** Id of the node client; null: not known. */
  client: number | null;
}

/** $1 network id, $2 start, $3 end. Partitions outside are pruned. */
export const selectBlocks = statement(
  'staging/select-blocks',
  `SELECT block, hash, parent_hash, timestamp, transaction_count, proofs, client
   FROM packhouse.staged_block
   WHERE network_id = $1 AND block BETWEEN $2 AND $3
   ORDER BY block`,
);
