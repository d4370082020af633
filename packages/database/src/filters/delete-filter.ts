import { statement } from '../connection/statement.js';

/** $1 id, $2 network, $3 key id. */
export const deleteFilter = statement(
  'filters/delete-filter',
  `DELETE FROM packhouse.rpc_filter WHERE id = $1 AND network = $2 AND key_id = $3 AND expires_at > now()
   RETURNING 1 AS gone`,
);
