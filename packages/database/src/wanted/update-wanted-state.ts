import { statement } from '../connection/statement.js';

/** $1 id, $2 state. */
export const updateWantedState = statement(
  'wanted/update-wanted-state',
  `UPDATE packhouse.wanted_range AS w SET state = $2
   FROM packhouse.network AS n
   WHERE w.id = $1 AND n.id = w.network_id
   RETURNING w.id, n.name AS network, w.kinds, w.start_block, w.end_block, w.priority, w.state, w.created_at`,
);
