import { statement } from '../connection/statement.js';

/** Ten thousand at a time, so that nobody waits for a long one. */
export const deleteExpiredFilters = statement(
  'filters/delete-expired-filters',
  `DELETE FROM packhouse.rpc_filter WHERE id IN (
     SELECT id FROM packhouse.rpc_filter WHERE expires_at <= now() LIMIT 10000 FOR UPDATE SKIP LOCKED
   )`,
);
