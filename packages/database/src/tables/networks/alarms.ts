import type { Metrics } from '@packhouse/runtime';
import { type Connections, statement } from '../../connection/connections.js';
import type { NetworkRef } from './networks.js';

/** Something that an operator must be told loudly, by name. */
export interface AlarmRow {
  id: number;
  network: string;
  /** In capitals, as error codes are: `REORG_BELOW_FINALITY`. */
  name: string;
  message: string;
  data: Record<string, unknown>;
  raisedAt: Date;
  /** null: open. */
  clearedAt: Date | null;
  clearedBy: 'operator' | 'itself' | null;
}

const ALARM = `id, name, message, data, raised_at AS "raisedAt", cleared_at AS "clearedAt", cleared_by AS "clearedBy"`;

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
     RETURNING ${ALARM}, xmax = 0 AS "isNew"
   )
   SELECT * FROM told
   UNION ALL
   SELECT ${ALARM}, false
   FROM packhouse.alarm
   WHERE network_id = $1::int2 AND name = $2::text AND cleared_at IS NULL AND NOT EXISTS (SELECT FROM told)`,
);

/** $1 network id, $2 name, $3 cleared by. */
const clearAlarm = statement(
  'alarms/clear-alarm',
  `UPDATE packhouse.alarm SET cleared_at = now(), cleared_by = $3
   WHERE network_id = $1 AND name = $2 AND cleared_at IS NULL
   RETURNING ${ALARM}`,
);

const getAlarms = (condition: string): string => `
  SELECT n.name AS network, a.id, a.name, a.message, a.data, a.raised_at AS "raisedAt", a.cleared_at AS "clearedAt",
    a.cleared_by AS "clearedBy"
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
    open: statement('alarms/select-all-open', getAlarms('a.cleared_at IS NULL')),
    past: statement('alarms/select-all', getAlarms('true')),
  },
  own: {
    open: statement('alarms/select-open', getAlarms('n.name = $2 AND a.cleared_at IS NULL')),
    past: statement('alarms/select', getAlarms('n.name = $2')),
  },
};

/** Most alarms that are listed. */
const MAX_LISTED = 1_000;

type OwnAlarm = Omit<AlarmRow, 'network'>;

/** The table of alarms; the gauge `packhouse_alarm` shows those that this process has raised, cleared or listed. */
export function createAlarms(connections: Connections, metrics: Metrics) {
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
    const alarms = await connections.query<AlarmRow>(select, values);
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
    all: {
      /** Alarms of all networks; see `list` of one. */
      list: ({ cleared }: { cleared?: boolean } = {}) => list(null, cleared),
    },
    of: (network: NetworkRef) => ({
      /**
       * Opens an alarm, or updates message and data of the open one of this network and name. `isNew` is true for
       * exactly one of concurrent callers. Throws NETWORK_UNKNOWN.
       */
      async raise(given: { name: string; message: string; data?: Record<string, unknown> }) {
        const { name, message, data = {} } = given;
        const values = [await network.get(), name, message, JSON.stringify(data)];
        // Another session may insert or clear between the two halves of the statement, which then returns no row.
        for (;;) {
          const row = await connections.queryOne<OwnAlarm & { isNew: boolean }>(upsertAlarm, values);
          if (row === null) continue;
          show(network.name, name, true);
          const { isNew, ...alarm } = row;
          return { alarm: { network: network.name, ...alarm }, isNew };
        }
      },
      /** Closes the open alarm of this name; null if none is open. */
      async clear(name: string, by: 'operator' | 'itself'): Promise<AlarmRow | null> {
        const row = await connections.queryOne<OwnAlarm>(clearAlarm, [await network.find(), name, by]);
        show(network.name, name, false);
        return row && { network: network.name, ...row };
      },
      /** Open alarms (with `cleared` also past ones, 1,000 at most), newest first. Sets the gauge `packhouse_alarm`. */
      list: ({ cleared }: { cleared?: boolean } = {}) => list(network.name, cleared),
    }),
  };
}
