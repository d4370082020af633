import { TABLES, type TableName } from '@packhouse/chain';
import { listLakeTables, rebuildLake, setLake, setLakeState } from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import {
  addCommand,
  addPlacedCommand,
  collect,
  describeCommand,
  type Place,
  withPlace,
} from '../terminal/command.js';
import { counted, formatBytes, formatCount } from '../terminal/format.js';
import { type CliIo, print, printRows, table } from '../terminal/io.js';
import { parseBlockNumber } from '../terminal/parse.js';

/** Ranges of complete blocks that a line of the table names. */
const SHOWN = 3;

type NetworkOptions = Place & { network?: string };
type Control = Awaited<ReturnType<typeof setLake.run>>[number];
type TableRow = Awaited<ReturnType<typeof listLakeTables.run>>[number];

/** `packhouse lake status|pause|resume|set|rebuild`. */
export function addLakeCommand(program: Command, io: CliIo): void {
  const lake = addCommand(program, 'lake', 'Show and control the tables of the lake', 'status');
  const status = lake.command('status', { isDefault: true });
  withPlace(describeCommand(status, 'List the tables and how far behind they are', 'packhouse lake status'))
    .option('--network <id>', 'Only this network')
    .action(async ({ network, ...place }: NetworkOptions) => {
      const rows = await operate(io, place, listLakeTables, { network });
      await printRows(io, place, rows, {
        none: 'No tables yet. Packers with LAKE=on write them.',
        show: () => statusTable(rows),
      });
    });

  const printControls = async (place: Place, controls: readonly Control[]): Promise<void> => {
    if (place.json) for (const control of controls) await print(io, control);
    else await print(io, controls.map(controlLine).join('\n') || 'No networks yet.');
  };
  const addState = (name: 'pause' | 'resume', description: string): void => {
    addPlacedCommand(lake, name, description, '--network ethereum')
      .option('--network <id>', 'Only this network')
      .action(async ({ network, ...place }: NetworkOptions) => {
        const state = name === 'pause' ? 'paused' : 'active';
        await printControls(place, await operate(io, place, setLakeState, { network, state }));
      });
  };
  addState('pause', 'Stop writing tables until they are resumed; a file under way is finished');
  addState('resume', 'Write tables again');

  addPlacedCommand(
    lake,
    'set',
    'Set when history is written; new blocks are always',
    '--window "Mon-Fri 20:00-06:00 Europe/Berlin" --share 0.5',
  )
    .option('--network <id>', 'Only this network')
    .option('--window <hours>', 'Hours of a week, repeatable; "none": at any time', collect)
    .option('--share <share>', 'Share of the time, above 0 and up to 1')
    .action(async ({ network, window, share, ...place }: SetOptions) => {
      const windows = window?.join() === 'none' ? [] : window;
      await printControls(place, await operate(io, place, setLake, { network, windows, share }));
    });

  addPlacedCommand(
    lake,
    'rebuild',
    'Write files of a table again from the bundles, in new snapshots',
    '--network ethereum --table logs --from 17000000 --to 17009999',
  )
    .requiredOption('--network <id>', 'Network')
    .requiredOption('--table <name>', `Table: ${TABLES.join(', ')}`)
    .option('--from <block>', 'First block (default: 0)')
    .option('--to <block>', 'Last block (default: the last)')
    .action(async ({ network, table: name, from, to, ...place }: RebuildOptions) => {
      const range = {
        ...(from === undefined ? {} : { from: parseBlockNumber(from, '--from') }),
        ...(to === undefined ? {} : { to: parseBlockNumber(to, '--to') }),
      };
      const made = await operate(io, place, rebuildLake, { network, table: name, ...range });
      const text = `${counted(made.files, 'file')} of ${network} ${name} to be written again by packers with LAKE=on.`;
      await print(io, place.json ? made : text);
    });
}

type SetOptions = NetworkOptions & { window?: string[]; share?: string };
type RebuildOptions = Place & {
  network: string;
  table: TableName;
  from?: string;
  to?: string;
};

function controlLine({ network, paused, windows, share }: Control): string {
  const when = windows.length === 0 ? 'at any time' : `in ${windows.join(' or ')}`;
  const part = share === 1 ? '' : `, for ${Math.round(share * 100)} % of the time`;
  return `${network}: ${paused ? 'paused' : `active, history ${when}${part}`}.`;
}

function statusTable(rows: readonly TableRow[]): string {
  const lines = rows.map((row) => {
    const named = row.complete.slice(0, SHOWN).map(({ from, to }) => `${from}-${to}`);
    if (row.complete.length > SHOWN) named.push('…');
    return [
      row.network,
      row.kind,
      toState(row),
      formatCount(row.files),
      formatCount(row.rows),
      formatBytes(row.bytes),
      row.madeAt.toISOString().slice(0, 19),
      String(row.filesBehind),
      row.blocksBehindFinal === null ? '?' : formatCount(row.blocksBehindFinal),
      named.join(', '),
    ];
  });
  const head = [
    'NETWORK',
    'TABLE',
    'STATE',
    'FILES',
    'ROWS',
    'BYTES',
    'CHANGED',
    'BUNDLES BEHIND',
    'BEHIND FINAL',
    'BLOCKS',
  ];
  return table([head, ...lines]);
}

function toState({ paused, open, rebuilding }: TableRow): string {
  if (paused) return 'paused';
  if (rebuilding > 0) return `${formatCount(rebuilding)} to rebuild`;
  return open ? 'active' : 'window closed';
}
