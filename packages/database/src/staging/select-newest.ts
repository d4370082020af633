import { statement } from '../connection/statement.js';

/** $1 network id. The partitions are read from the highest down and only until the first row. */
export const selectNewest = statement(
  'staging/select-newest',
  `SELECT block, hash, parent_hash, timestamp, transaction_count, proofs, client
   FROM packhouse.staged_block
   WHERE network_id = $1
   ORDER BY block DESC
   LIMIT 1`,
);
