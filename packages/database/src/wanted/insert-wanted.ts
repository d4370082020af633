import { statement } from '../connection/statement.js';

/** $1 network id, $2 kinds (mask), $3 start, $4 end or null, $5 priority. */
export const insertWanted = statement(
  'wanted/insert-wanted',
  `WITH added AS (
     INSERT INTO packhouse.wanted_range (network_id, kinds, start_block, end_block, priority)
     VALUES ($1, $2, $3, $4, $5)
     RETURNING *
   )
   SELECT w.id, n.name AS network, w.kinds, w.start_block, w.end_block, w.priority, w.state, w.created_at
   FROM added AS w JOIN packhouse.network AS n ON n.id = w.network_id`,
);
