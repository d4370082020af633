import { statement } from '../connection/statement.js';

/** $1 id. */
export const selectFilter = statement(
  'filters/select-filter',
  `SELECT network, key_id, state, version FROM packhouse.rpc_filter WHERE id = $1 AND expires_at > now()`,
);
