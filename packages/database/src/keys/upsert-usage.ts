import { statement } from '../connection/statement.js';

/** $1 key ids, each once, $2 day, $3 requests of each. Rows are taken in the order of ids, so that nobody waits in a circle. */
export const upsertUsage = statement(
  'keys/upsert-usage',
  `INSERT INTO packhouse.key_usage AS u (key_id, day, requests)
   SELECT used.key_id, $2::int4, used.requests
   FROM unnest($1::int8[], $3::int8[]) AS used (key_id, requests)
   ORDER BY used.key_id
   ON CONFLICT (key_id, day) DO UPDATE SET requests = u.requests + excluded.requests
   RETURNING u.key_id, u.requests`,
);
