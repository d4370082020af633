import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeRun } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

function runBy(start: number, clients: readonly (string | null | undefined)[]) {
  const run = makeRun(start, start + clients.length - 1, { kinds: ['logs'] });
  return {
    ...run,
    blocks: run.blocks.map((block, at) => {
      const client = clients[at];
      return client === undefined ? block : { ...block, client };
    }),
  };
}

it('keeps what the node that gave a block calls itself, and nothing where that is not known', async () => {
  await open.main.staging.stage(runBy(100, ['reth/v1.1.0', null, undefined, 'Geth/v1.13.5', 'reth/v1.1.0']));
  const clients = (
    await open.another().network('main').staging.blocks({ firstBlock: 100, lastBlock: 104 })
  ).map((block) => block.client);
  expect(clients).toEqual(['reth/v1.1.0', undefined, undefined, 'Geth/v1.13.5', 'reth/v1.1.0']);
  expect(await open.main.staging.newest()).toMatchObject({ number: 104, client: 'reth/v1.1.0' });
  expect(await open.sql('SELECT count(*)::int AS names FROM packhouse.node_client')).toEqual([{ names: 2 }]);
});

it('makes printable text of bounded length of whatever a node says, and a bounded number of names', async () => {
  await open.main.staging.stage(runBy(2_100, [`a\n\u0000é${'x'.repeat(500)}`]));
  expect((await open.main.staging.blocks({ firstBlock: 2_100, lastBlock: 2_100 }))[0]?.client).toBe(
    `a?${'x'.repeat(98)}`,
  );
  await open.sql(
    `INSERT INTO packhouse.node_client (name) SELECT 'n' || i FROM generate_series(1, 10000) AS i`,
  );
  await open.main.staging.stage(runBy(3_100, ['one too many', 'n7']));
  const clients = (await open.main.staging.blocks({ firstBlock: 3_100, lastBlock: 3_101 })).map(
    (block) => block.client,
  );
  expect(clients).toEqual([undefined, 'n7']);
});
