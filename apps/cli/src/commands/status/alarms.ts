import type { AlarmRow } from '@packhouse/database';
import { clearAlarm, listAlarms } from '@packhouse/operations';
import { list, one, resource } from '../../installation/resource.js';
import { parseNetworkName } from '../../terminal/parse.js';
import { columnTable } from '../../terminal/table.js';

export const addAlarmsCommand = resource('alarms', 'List and clear alarms', 'list', {
  list: list(listAlarms, {
    about: 'List open alarms, newest first',
    examples: ['--all'],
    fields: {
      network: ['--network <id>', 'Only this network', { read: parseNetworkName }],
      cleared: ['--all', 'Include cleared alarms'],
    },
    empty: ({ cleared }) => (cleared ? 'No alarms.' : 'No open alarms.'),
    show: alarmTable,
  }),
  clear: one(clearAlarm, {
    about: 'Clear an alarm, and resume the work that it stopped',
    examples: ['ethereum REORG_BELOW_FINALITY'],
    fields: {
      network: ['<network>', 'Network of the alarm', { read: parseNetworkName }],
      name: ['<name>', 'Name of the alarm, e.g. REORG_BELOW_FINALITY'],
    },
    say: (row) => `Alarm ${row.name} of ${row.network} cleared.`,
  }),
});

/** Alarms as a table. */
export function alarmTable(rows: readonly AlarmRow[]): string {
  return columnTable(rows, {
    NETWORK: (row) => row.network,
    ALARM: (row) => row.name,
    RAISED: (row) => row.raisedAt.toISOString(),
    STATE: ({ clearedAt, clearedBy }) =>
      clearedAt === null ? 'open' : `cleared ${clearedAt.toISOString()} by ${clearedBy}`,
    MESSAGE: (row) => row.message,
  });
}
