import { statement } from '../connection/statement.js';

/** $1 network id, $2 block: its last abandoned hash of the last 24 hours, unless something took its place. */
export const selectAbandoned = statement(
  'staging/select-abandoned',
  `SELECT a.hash, a.abandoned_at
   FROM packhouse.abandoned_block AS a
   WHERE a.network_id = $1 AND a.block = $2 AND a.abandoned_at >= now() - interval '24 hours'
     AND NOT EXISTS (SELECT 1 FROM packhouse.staged_block AS s WHERE s.network_id = $1 AND s.block = $2)
     AND NOT EXISTS (
       SELECT 1 FROM packhouse.published AS p WHERE p.network_id = $1 AND p.ranges @> $2::int8
     )
   ORDER BY a.abandoned_at DESC
   LIMIT 1`,
);
