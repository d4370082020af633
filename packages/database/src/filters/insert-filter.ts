import { statement } from '../connection/statement.js';

/** Under the lock of the key's filters. $1 id, $2 network, $3 key id, $4 state, $5 milliseconds to live, $6 filters of one key at most. */
export const insertFilter = statement(
  'filters/insert-filter',
  `INSERT INTO packhouse.rpc_filter (id, network, key_id, state, expires_at)
   SELECT $1::bytea, $2::text, $3::int8, $4::text, now() + $5::float8 * interval '1 millisecond'
   WHERE (SELECT count(*) FROM packhouse.rpc_filter WHERE key_id = $3::int8 AND expires_at > now()) < $6::int8
   RETURNING 1 AS made`,
);
