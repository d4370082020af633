import { statement } from '../connection/statement.js';

/** $1 network. */
export const selectNewestPending = statement(
  'filters/select-newest-pending',
  'SELECT coalesce(max(sequence), 0) AS sequence FROM packhouse.pending_transaction WHERE network = $1',
);
