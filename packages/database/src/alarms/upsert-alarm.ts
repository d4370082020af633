import { statement } from '../connection/statement.js';

/**
 * $1 network id, $2 name, $3 message, $4 data (JSON).
 *
 * The row of an open alarm changes only where what it says does. xmax is 0 in a row that this statement inserted.
 */
export const upsertAlarm = statement(
  'alarms/upsert-alarm',
  `WITH told AS (
     INSERT INTO packhouse.alarm AS a (network_id, name, message, data)
     VALUES ($1::int2, $2::text, $3::text, $4::jsonb)
     ON CONFLICT (network_id, name) WHERE cleared_at IS NULL
     DO UPDATE SET message = excluded.message, data = excluded.data
       WHERE a.message <> excluded.message OR a.data <> excluded.data
     RETURNING id, name, message, data, raised_at, cleared_at, cleared_by, xmax = 0 AS is_new
   )
   SELECT * FROM told
   UNION ALL
   SELECT id, name, message, data, raised_at, cleared_at, cleared_by, false
   FROM packhouse.alarm
   WHERE network_id = $1::int2 AND name = $2::text AND cleared_at IS NULL AND NOT EXISTS (SELECT FROM told)`,
);
