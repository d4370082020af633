import { statement } from '../connection/statement.js';

/** $1 network or null for all, $2 id or null for all. First to be worked on first. */
export const selectWanted = statement(
  'wanted/select-wanted',
  `SELECT w.id, n.name AS network, w.kinds, w.start_block, w.end_block, w.priority, w.state, w.created_at
   FROM packhouse.wanted_range AS w JOIN packhouse.network AS n ON n.id = w.network_id
   WHERE ($1::text IS NULL OR n.name = $1::text) AND ($2::int8 IS NULL OR w.id = $2::int8)
   ORDER BY w.priority, w.id`,
);
