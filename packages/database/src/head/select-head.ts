import { statement } from '../connection/statement.js';

/** $1 network. */
export const selectHead = statement(
  'head/select-head',
  `SELECT h.block, h.hash, h.finalized, h.observed_at
   FROM packhouse.head AS h JOIN packhouse.network AS n ON n.id = h.network_id
   WHERE n.name = $1`,
);
