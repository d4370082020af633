import { statement } from '../connection/statement.js';

/** $1 network or null for all, $2 whether cleared ones count too, $3 how many at most. Newest first. */
export const selectAlarms = statement(
  'alarms/select-alarms',
  `SELECT n.name AS network, a.id, a.name, a.message, a.data, a.raised_at, a.cleared_at, a.cleared_by
   FROM packhouse.alarm AS a JOIN packhouse.network AS n ON n.id = a.network_id
   WHERE ($1::text IS NULL OR n.name = $1::text) AND ($2::bool OR a.cleared_at IS NULL)
   ORDER BY a.id DESC
   LIMIT $3::int4`,
);
