import { expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();

test('the tables of the lake are listed with their complete blocks', async () => {
  expect((await on.done('lake')).out).toBe('No tables yet. Packers with LAKE=on write them.\n');
  await on.database.networks.register({ id: 'main', chainId: 1 });
  const file = (firstBlock: number, lastBlock: number) => ({
    firstBlock,
    lastBlock,
    rows: 700,
    bytes: 50_000,
    sha256: 'ab'.repeat(32),
    sources: 'cd'.repeat(32),
    objectKey: `_lake/main/logs/${firstBlock}`,
    stats: {},
    lacks: {},
  });
  const change = { fields: [], heads: {}, remove: [], add: [file(0, 99), file(100, 104), file(200, 299)] };
  await on.database.network('main').lake.commit('logs', change, undefined);
  const { out } = await on.done('lake', 'status');
  expect(out).toMatch(/^main +logs +active +3 +2,?100 +150 kB .* 0 +\? +0-104, 200-299$/m);
  expect(jsonLines(await on.done('lake', 'status', '--network', 'main', '--json'))).toEqual([
    expect.objectContaining({
      kind: 'logs',
      files: 3,
      complete: [
        { from: 0, to: 104 },
        { from: 200, to: 299 },
      ],
    }),
  ]);
  expect(await on.refused(64, 'lake', 'status', '--network', 'none')).toContain('NETWORK_UNKNOWN');
});

test('writing is paused, resumed and set, per network or for all, and the change log has it', async () => {
  await on.database.networks.register({ id: 'other', chainId: 2 });
  expect((await on.done('lake', 'pause')).out).toBe('main: paused.\nother: paused.\n');
  expect((await on.done('lake', 'resume', '--network', 'other')).out).toBe(
    'other: active, history at any time.\n',
  );
  const set = await on.done('lake', 'set', '--network', 'other', '--window', 'Sat,Sun', '--share', '0.25');
  expect(set.out).toBe('other: active, history in Sat,Sun, for 25 % of the time.\n');
  expect(await on.database.network('main').lake.control()).toMatchObject({ paused: true });
  const [row] = jsonLines(await on.done('lake', 'set', '--network', 'other', '--window', 'none', '--json'));
  expect(row).toEqual({ network: 'other', paused: false, windows: [], share: 0.25 });
  expect(await on.refused(64, 'lake', 'set', '--window', 'always')).toContain('WINDOW_INVALID');
  expect(await on.refused(64, 'lake', 'set', '--share', '2')).toContain('above 0 and up to 1');
  const changes = await on.database.changes.list();
  expect(changes.map(({ subject, action }) => `${subject}: ${action}`)).toEqual(
    ['other: set', 'other: set', 'other: resume', 'other: pause', 'main: pause'].map(
      (line) => `lake ${line}`,
    ),
  );
});

test('files of a range are marked to be written again', async () => {
  const rebuild = (...args: string[]) =>
    on.done('lake', 'rebuild', '--network', 'main', '--table', 'logs', ...args);
  expect((await rebuild('--from', '104', '--to', '150')).out).toBe(
    '1 file of main logs to be written again by packers with LAKE=on.\n',
  );
  expect(await on.database.network('main').lake.toRebuild('logs')).toEqual([
    { firstBlock: 100, lastBlock: 104 },
  ]);
  expect(jsonLines(await rebuild('--json'))).toMatchObject([{ network: 'main', table: 'logs', files: 2 }]);
  await on.done('lake', 'resume');
  expect((await on.done('lake', 'status', '--network', 'main')).out).toContain('3 to rebuild');
  const unknown = ['lake', 'rebuild', '--network', 'main', '--table', 'traces'];
  expect(await on.refused(64, ...unknown)).toContain('TABLE_UNKNOWN');
});
