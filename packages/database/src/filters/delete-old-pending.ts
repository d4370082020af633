import { statement } from '../connection/statement.js';

/** A filter lives five minutes without being polled: what waits no more for twice as long was told to all. */
export const deleteOldPending = statement(
  'filters/delete-old-pending',
  `DELETE FROM packhouse.pending_transaction WHERE seen_at < now() - interval '10 minutes'`,
);
