import { statement } from '../connection/statement.js';

/** $1 network or null for all, $2 cause or null for all, $3 network and $4 block to go on behind or null, $5 limit. */
export const selectQuarantine = statement(
  'quarantine/select-quarantine',
  `SELECT n.name AS network, q.block, q.blocks, q.kinds, q.cause, q.message, q.upstream, q.payload_digest,
     q.attempts, q.first_seen, q.next_try, q.tried
   FROM packhouse.quarantine AS q JOIN packhouse.network AS n ON n.id = q.network_id
   WHERE ($1::text IS NULL OR n.name = $1::text) AND ($2::text IS NULL OR q.cause = $2::text)
     AND ($3::text IS NULL OR (n.name, q.block) > ($3::text, $4::int8))
   ORDER BY n.name, q.block
   LIMIT $5::int8`,
);
