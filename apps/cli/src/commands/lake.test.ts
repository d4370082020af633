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
  });
  const change = { fields: [], heads: {}, remove: [], add: [file(0, 99), file(100, 104), file(200, 299)] };
  await on.database.network('main').lake.commit('logs', change, undefined);
  const { out } = await on.done('lake', 'status');
  expect(out).toMatch(/^main +logs +3 +2,?100 +150 kB .* 0 +0-104, 200-299$/m);
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
