import { TABLES } from '@packhouse/chain';
import { listLakeTables, rebuildLake, setLake, setLakeState } from '@packhouse/operations';
import { list, one, resource } from '../installation/resource.js';
import { counted, formatBytes, formatCount } from '../terminal/format.js';
import { parseBlockNumber } from '../terminal/parse.js';

/** Ranges of complete blocks that a line of the table names. */
const SHOWN = 3;

type Control = Awaited<ReturnType<typeof setLake.run>>[number];
type TableRow = Awaited<ReturnType<typeof listLakeTables.run>>[number];

const NETWORK = ['--network <id>', 'Only this network'] as const;
const CONTROLS = { empty: 'No networks yet.', show: (rows: readonly Control[]) => rows.map(controlLine) };

export const addLakeCommand = resource('lake', 'Show and control the tables of the lake', 'status', {
  status: list(listLakeTables, {
    about: 'List the tables and how far behind they are',
    isDefault: true,
    fields: { network: NETWORK },
    empty: 'No tables yet. Packers with LAKE=on write them.',
    columns: {
      NETWORK: (row) => row.network,
      TABLE: (row) => row.kind,
      STATE: toState,
      FILES: (row) => formatCount(row.files),
      ROWS: (row) => formatCount(row.rows),
      BYTES: (row) => formatBytes(row.bytes),
      CHANGED: (row) => row.madeAt.toISOString().slice(0, 19),
      'BUNDLES BEHIND': (row) => row.filesBehind,
      'BEHIND FINAL': ({ blocksBehindFinal: behind }) => (behind === null ? '?' : formatCount(behind)),
      BLOCKS: ({ complete }) => {
        const named = complete.slice(0, SHOWN).map(({ from, to }) => `${from}-${to}`);
        return [...named, ...(complete.length > SHOWN ? ['…'] : [])].join(', ');
      },
    },
  }),
  pause: list(setLakeState, {
    about: 'Stop writing tables until they are resumed; a file under way is finished',
    examples: ['--network ethereum'],
    fields: { network: NETWORK },
    fixed: { state: 'paused' },
    ...CONTROLS,
  }),
  resume: list(setLakeState, {
    about: 'Write tables again',
    examples: ['--network ethereum'],
    fields: { network: NETWORK },
    fixed: { state: 'active' },
    ...CONTROLS,
  }),
  set: list(setLake, {
    about: 'Set when history is written; new blocks are always',
    examples: ['--window "Mon-Fri 20:00-06:00 Europe/Berlin" --share 0.5'],
    none: 'none',
    fields: {
      network: NETWORK,
      windows: ['--window <hours>', 'Hours of a week, repeatable; "none": at any time'],
      share: ['--share <share>', 'Share of the time, above 0 and up to 1'],
    },
    ...CONTROLS,
  }),
  rebuild: one(rebuildLake, {
    about: 'Write files of a table again from the bundles, in new snapshots',
    examples: ['--network ethereum --table logs --from 17000000 --to 17009999'],
    fields: {
      network: ['--network <id>', 'Network'],
      table: ['--table <name>', `Table: ${TABLES.join(', ')}`],
      from: ['--from <block>', 'First block (default: 0)', { read: parseBlockNumber }],
      to: ['--to <block>', 'Last block (default: the last)', { read: parseBlockNumber }],
    },
    say: ({ files }, { network, table }) =>
      `${counted(files, 'file')} of ${network} ${table} to be written again by packers with LAKE=on.`,
  }),
});

function controlLine({ network, paused, windows, share }: Control): string {
  const when = windows.length === 0 ? 'at any time' : `in ${windows.join(' or ')}`;
  const part = share === 1 ? '' : `, for ${Math.round(share * 100)} % of the time`;
  return `${network}: ${paused ? 'paused' : `active, history ${when}${part}`}.`;
}

function toState({ paused, open, rebuilding }: TableRow): string {
  if (paused) return 'paused';
  if (rebuilding > 0) return `${formatCount(rebuilding)} to rebuild`;
  return open ? 'active' : 'window closed';
}
