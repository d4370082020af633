import { statement } from '../connection/statement.js';

/** $1 network or null for all. */
export const selectQuarantine = statement(
  'quarantine/select-quarantine',
  `SELECT n.name AS network, q.block, q.kinds, q.cause, q.message, q.upstream, q.payload_digest, q.attempts,
     q.first_seen, q.next_try
   FROM packhouse.quarantine AS q JOIN packhouse.network AS n ON n.id = q.network_id
   WHERE $1::text IS NULL OR n.name = $1::text
   ORDER BY n.name, q.block`,
);
