import type { Metrics } from '@packhouse/runtime';
import { type Connections, statement } from '../connection/connections.js';
import type { Database, NetworkDatabase } from '../contract/database.js';
import type { AlarmRow } from '../contract/rows.js';
import type { NetworkRef } from './networks.js';

/**
 * $1 network id, $2 name, $3 message, $4 data (JSON).
 *
 * The row of an open alarm changes only if message or data differ. xmax is 0 in a row that this statement inserted.
 */
const upsertAlarm = statement(
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

/** $1 network id, $2 name, $3 cleared by. */
const clearAlarm = statement(
  'alarms/clear-alarm',
  `UPDATE packhouse.alarm SET cleared_at = now(), cleared_by = $3
   WHERE network_id = $1 AND name = $2 AND cleared_at IS NULL
   RETURNING id, name, message, data, raised_at, cleared_at, cleared_by`,
);

const alarmsOf = (condition: string): string => `
  SELECT n.name AS network, a.id, a.name, a.message, a.data, a.raised_at, a.cleared_at, a.cleared_by
  FROM packhouse.alarm AS a JOIN packhouse.network AS n ON n.id = a.network_id
  WHERE ${condition}
  ORDER BY a.id DESC
  LIMIT $1::int4`;

/**
 * $1 limit, $2 network; newest first. Statements of their own: Postgres would plan one with conditions that may be
 * absent anew for every look, three a second for each network, which costs more than to run it.
 */
const selectAlarms = {
  all: {
    open: statement('alarms/select-all-open', alarmsOf('a.cleared_at IS NULL')),
    past: statement('alarms/select-all', alarmsOf('true')),
  },
  own: {
    open: statement('alarms/select-open', alarmsOf('n.name = $2 AND a.cleared_at IS NULL')),
    past: statement('alarms/select', alarmsOf('n.name = $2')),
  },
};

/** Most alarms that are listed. */
const MAX_LISTED = 1_000;

interface Row {
  id: number;
  name: string;
  message: string;
  data: Record<string, unknown>;
  raised_at: Date;
  cleared_at: Date | null;
  cleared_by: AlarmRow['clearedBy'];
}

/** The table of alarms; the gauge `packhouse_alarm` shows those that this process has raised, cleared or listed. */
export function createAlarms(
  connections: Connections,
  metrics: Metrics,
): { all: Database['alarms']; of(network: NetworkRef): NetworkDatabase['alarms'] } {
  const gauge = metrics.gauge('packhouse_alarm', 'Open alarms: 1 while one is open, 0 once it is cleared.', [
    'network',
    'name',
  ]);
  const shown = new Map<string, { network: string; name: string }>();
  const show = (network: string, name: string, open: boolean): void => {
    const key = `${network} ${name}`;
    if (open) shown.set(key, { network, name });
    if (shown.has(key)) gauge.set({ network, name }, open ? 1 : 0);
  };

  const list = async (network: string | null, cleared = false): Promise<AlarmRow[]> => {
    const select = selectAlarms[network === null ? 'all' : 'own'][cleared ? 'past' : 'open'];
    const values = network === null ? [MAX_LISTED] : [MAX_LISTED, network];
    const rows = await connections.query<Row & { network: string }>(select, values);
    const alarms = rows.map((row) => alarmOf(row.network, row));
    const open = new Set(
      alarms.filter(({ clearedAt }) => clearedAt === null).map((row) => `${row.network} ${row.name}`),
    );
    for (const each of alarms) if (each.clearedAt === null) show(each.network, each.name, true);
    for (const [key, each] of shown) {
      if ((network === null || network === each.network) && !open.has(key))
        show(each.network, each.name, false);
    }
    return alarms;
  };

  return {
    all: { list: ({ cleared } = {}) => list(null, cleared) },
    of: (network) => ({
      raise: async ({ name, message, data }) => {
        const values = [await network.get(), name, message, JSON.stringify(data ?? {})];
        // Another session may insert or clear between the two halves of the statement, which then returns no row.
        for (;;) {
          const [row] = await connections.query<Row & { is_new: boolean }>(upsertAlarm, values);
          if (row === undefined) continue;
          show(network.name, name, true);
          return { alarm: alarmOf(network.name, row), isNew: row.is_new };
        }
      },
      clear: async (name, by) => {
        const [row] = await connections.query<Row>(clearAlarm, [await network.find(), name, by]);
        show(network.name, name, false);
        return row === undefined ? null : alarmOf(network.name, row);
      },
      list: ({ cleared } = {}) => list(network.name, cleared),
    }),
  };
}

function alarmOf(network: string, row: Row): AlarmRow {
  return {
    id: row.id,
    network,
    name: row.name,
    message: row.message,
    data: row.data,
    raisedAt: row.raised_at,
    clearedAt: row.cleared_at,
    clearedBy: row.cleared_by,
  };
}
