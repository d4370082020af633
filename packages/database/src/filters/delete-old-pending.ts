import { statement } from '../connection/statement.js';

/** A filter lives five minutes without being polled: what is twice as old was seen by all. */
export const deleteOldPending = statement(
  'filters/delete-old-pending',
  `DELETE FROM packhouse.pending_transaction WHERE seen_at < now() - interval '10 minutes'`,
);
