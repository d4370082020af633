import type { AlarmRow } from '@packhouse/database';
import { clearAlarm, listAlarms } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { parseNetworkName } from '../terminal/parse.js';
import { withPlace } from '../terminal/place.js';

interface ListOptions {
  server?: string;
  network?: string;
  all?: boolean;
  json?: boolean;
  dataDir?: string;
}

/** `packhouse alarms list|clear`. */
export function addAlarmsCommand(program: Command, io: CliIo): void {
  const alarms = program
    .command('alarms')
    .description('list and clear what an operator must look at')
    .addHelpText('after', '\nExample:\n  $ packhouse alarms list');

  withPlace(alarms.command('list'))
    .description('list the open alarms, newest first')
    .option('--network <id>', 'only this network')
    .option('--all', 'also the cleared ones')
    .addHelpText('after', '\nExample:\n  $ packhouse alarms list --all')
    .action(async (options: ListOptions) => {
      const network = options.network === undefined ? undefined : parseNetworkName(options.network);
      const rows = await operate(io, options, listAlarms, { network, cleared: options.all === true });
      if (options.json) for (const row of rows) await print(io, row);
      else if (rows.length === 0)
        await print(io, options.all ? 'No alarm was ever raised.' : 'No alarm is open.');
      else await print(io, alarmTable(rows));
    });

  withPlace(alarms.command('clear'))
    .description('clear an alarm: what it stopped continues with the present state')
    .argument('<network>', 'the network it is about')
    .argument('<name>', 'its name, e.g. REORG_BELOW_FINALITY')
    .addHelpText('after', '\nExample:\n  $ packhouse alarms clear ethereum REORG_BELOW_FINALITY')
    .action(async (network: string, name: string, options: ListOptions) => {
      const row = await operate(io, options, clearAlarm, { network: parseNetworkName(network), name });
      await print(io, options.json ? row : `Alarm ${row.name} of ${row.network} is cleared.`);
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
