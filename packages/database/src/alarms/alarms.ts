import type { Metrics } from '@packhouse/runtime';
import type { Connections } from '../connection/connections.js';
import type { AlarmRow, Database } from '../database.js';
import type { NetworkIds } from '../networks/networks.js';
import { clearAlarm } from './clear-alarm.js';
import { selectAlarms } from './select-alarms.js';
import { upsertAlarm } from './upsert-alarm.js';

interface Row {
  id: number;
  name: string;
  message: string;
  data: Record<string, unknown>;
  raised_at: Date;
  cleared_at: Date | null;
  cleared_by: AlarmRow['clearedBy'];
}

const MOST = 1_000;

/** The part `alarms` of the database; the gauge `packhouse_alarm` follows whatever this process sees of them. */
export function createAlarms(
  connections: Connections,
  ids: NetworkIds,
  metrics: Metrics,
): Database['alarms'] {
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

  return {
    raise: async ({ network, name, message, data }) => {
      const values = [await ids.get(network), name, message, JSON.stringify(data ?? {})];
      // Another session may insert or clear between the two halves of the statement, which then gives no row.
      for (;;) {
        const [row] = await connections.query<Row & { is_new: boolean }>(upsertAlarm, values);
        if (row === undefined) continue;
        show(network, name, true);
        return { alarm: alarmOf(network, row), isNew: row.is_new };
      }
    },
    clear: async (network, name, by) => {
      const id = await ids.find(network);
      if (id === undefined) return null;
      const [row] = await connections.query<Row>(clearAlarm, [id, name, by]);
      show(network, name, false);
      return row === undefined ? null : alarmOf(network, row);
    },
    list: async ({ network, cleared = false } = {}) => {
      const values = [network ?? null, cleared, MOST];
      const rows = await connections.query<Row & { network: string }>(selectAlarms, values);
      const alarms = rows.map((row) => alarmOf(row.network, row));
      const open = new Set(
        alarms.filter(({ clearedAt }) => clearedAt === null).map((row) => `${row.network} ${row.name}`),
      );
      for (const each of alarms) if (each.clearedAt === null) show(each.network, each.name, true);
      for (const [key, each] of shown) {
        if ((network === undefined || network === each.network) && !open.has(key))
          show(each.network, each.name, false);
      }
      return alarms;
    },
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
