import { statement } from '../connection/statement.js';

/** $1 network, $2 sequence number to begin behind, $3 rows at most. */
export const selectPending = statement(
  'filters/select-pending',
  `SELECT sequence, hash FROM packhouse.pending_transaction
   WHERE network = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`,
);
