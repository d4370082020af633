import { statement } from '../connection/statement.js';

/** $1 id, $2 version seen, $3 state, $4 milliseconds to live from now. */
export const updateFilter = statement(
  'filters/update-filter',
  `UPDATE packhouse.rpc_filter
   SET state = $3, version = version % 2000000000 + 1, expires_at = now() + $4::float8 * interval '1 millisecond'
   WHERE id = $1 AND version = $2 AND expires_at > now()
   RETURNING 1 AS written`,
);
