import { statement } from '../connection/statement.js';

/** $1 network id, $2 name, $3 who cleared it. */
export const clearAlarm = statement(
  'alarms/clear-alarm',
  `UPDATE packhouse.alarm SET cleared_at = now(), cleared_by = $3
   WHERE network_id = $1 AND name = $2 AND cleared_at IS NULL
   RETURNING id, name, message, data, raised_at, cleared_at, cleared_by`,
);
