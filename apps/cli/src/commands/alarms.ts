import type { AlarmRow } from '@packhouse/database';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { parseNetworkName } from '../terminal/parse.js';

interface ListOptions {
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

  alarms
    .command('list')
    .description('list the open alarms, newest first')
    .option('--network <id>', 'only this network')
    .option('--all', 'also the cleared ones')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  $ packhouse alarms list --all')
    .action(async (options: ListOptions) => {
      const network = options.network === undefined ? undefined : parseNetworkName(options.network);
      const rows = await withDatabase(io, options, (database) =>
        (network === undefined ? database : database.network(network)).alarms.list({
          cleared: options.all === true,
        }),
      );
      if (options.json) for (const row of rows) await print(io, row);
      else if (rows.length === 0)
        await print(io, options.all ? 'No alarm was ever raised.' : 'No alarm is open.');
      else await print(io, alarmTable(rows));
    });

  alarms
    .command('clear')
    .description('clear an alarm: what it stopped continues with the present state')
    .argument('<network>', 'the network it is about')
    .argument('<name>', 'its name, e.g. REORG_BELOW_FINALITY')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ packhouse alarms clear ethereum REORG_BELOW_FINALITY')
    .action(async (network: string, name: string, options: { json?: boolean; dataDir?: string }) => {
      const { row, open } = await withDatabase(io, options, async (database) => ({
        row: await database.network(parseNetworkName(network)).alarms.clear(name, 'operator'),
        open: await database.alarms.list(),
      }));
      if (row === null) {
        const names = open.map((each) => `${each.network} ${each.name}`);
        throw new PackhouseError({
          code: 'ALARM_UNKNOWN',
          message: `No alarm "${name.slice(0, 64)}" is open for network "${network}".`,
          hint: names.length === 0 ? 'None is open at all.' : `Open are: ${names.join(', ')}.`,
        });
      }
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
