import { listLakeTables } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { addCommand, describeCommand, type Place, withPlace } from '../terminal/command.js';
import { formatBytes, formatCount } from '../terminal/format.js';
import { type CliIo, printRows, table } from '../terminal/io.js';

/** Ranges of complete blocks that a line of the table names. */
const SHOWN = 3;

/** `packhouse lake status`. */
export function addLakeCommand(program: Command, io: CliIo): void {
  const lake = addCommand(program, 'lake', 'Show the tables of the lake', 'status');
  const status = lake.command('status', { isDefault: true });
  withPlace(describeCommand(status, 'List the tables and how far behind they are', 'packhouse lake status'))
    .option('--network <id>', 'Only this network')
    .action(async ({ network, ...place }: Place & { network?: string }) => {
      const rows = await operate(io, place, listLakeTables, { network });
      await printRows(io, place, rows, {
        none: 'No tables yet. Packers with LAKE=on write them.',
        show: () => {
          const lines = rows.map((row) => {
            const named = row.complete.slice(0, SHOWN).map(({ from, to }) => `${from}-${to}`);
            if (row.complete.length > SHOWN) named.push('…');
            return [
              row.network,
              row.kind,
              formatCount(row.files),
              formatCount(row.rows),
              formatBytes(row.bytes),
              row.madeAt.toISOString().slice(0, 19),
              String(row.filesBehind),
              named.join(', '),
            ];
          });
          const head = ['NETWORK', 'TABLE', 'FILES', 'ROWS', 'BYTES', 'CHANGED', 'BUNDLES BEHIND', 'BLOCKS'];
          return table([head, ...lines]);
        },
      });
    });
}
