import type { AlarmRow } from '@packhouse/database';
import { clearAlarm, listAlarms } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../../terminal/command.js';
import { type CliIo, print, printRows, table } from '../../terminal/io.js';
import { parseNetworkName } from '../../terminal/parse.js';

/** `packhouse alarms list|clear`. */
export function addAlarmsCommand(program: Command, io: CliIo): void {
  const alarms = addCommand(program, 'alarms', 'List and clear alarms', 'list');

  addPlacedCommand(alarms, 'list', 'List open alarms, newest first', '--all')
    .option('--network <id>', 'Only this network')
    .option('--all', 'Include cleared alarms')
    .action(async (options: Place & { network?: string; all?: boolean }) => {
      const network = options.network === undefined ? undefined : parseNetworkName(options.network);
      const rows = await operate(io, options, listAlarms, { network, cleared: options.all === true });
      await printRows(io, options, rows, {
        none: options.all ? 'No alarms.' : 'No open alarms.',
        show: alarmTable,
      });
    });

  addPlacedCommand(
    alarms,
    'clear',
    'Clear an alarm, and resume the work that it stopped',
    'ethereum REORG_BELOW_FINALITY',
  )
    .argument('<network>', 'Network of the alarm')
    .argument('<name>', 'Name of the alarm, e.g. REORG_BELOW_FINALITY')
    .action(async (network: string, name: string, options: Place) => {
      const row = await operate(io, options, clearAlarm, { network: parseNetworkName(network), name });
      await print(io, options.json ? row : `Alarm ${row.name} of ${row.network} cleared.`);
    });
}

/** Alarms as a table. */
export function alarmTable(rows: readonly AlarmRow[]): string {
  const lines = rows.map((row) => [
    row.network,
    row.name,
    row.raisedAt.toISOString(),
    row.clearedAt === null ? 'open' : `cleared ${row.clearedAt.toISOString()} by ${row.clearedBy}`,
    row.message,
  ]);
  return table([['NETWORK', 'ALARM', 'RAISED', 'STATE', 'MESSAGE'], ...lines]);
}
