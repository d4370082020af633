import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashBytes } from '../connection/codes.js';
import { copyIn, createCopyEncoder } from '../connection/copy.js';
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
  const clients = (await open.another().network('main').staging.blocks({ start: 100, end: 104 })).map(
    (block) => block.client,
  );
  expect(clients).toEqual(['reth/v1.1.0', undefined, undefined, 'Geth/v1.13.5', 'reth/v1.1.0']);
  expect(await open.main.staging.newest()).toMatchObject({ number: 104, client: 'reth/v1.1.0' });
  expect(await open.sql('SELECT count(*)::int AS names FROM packhouse.node_client')).toEqual([{ names: 2 }]);
});

it('takes the rows of an older program, which knows nothing of the column', async () => {
  await open.main.staging.stage(runBy(1_100, ['reth/v1.1.0']));
  const [partition] = await open.sql<{ name: string }>(
    `SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
     WHERE inhparent = 'packhouse.staged_block'::regclass ORDER BY child.oid DESC LIMIT 1`,
  );
  const [block] = makeRun(1_101, 1_101).blocks;
  if (block === undefined) throw new Error('no block');
  const encoder = createCopyEncoder();
  encoder.row(7);
  encoder.int2(1);
  encoder.int8(block.number);
  encoder.bytes(hashBytes(block.hash));
  encoder.bytes(hashBytes(block.parentHash));
  encoder.int8(block.timestamp);
  encoder.int4(block.transactionCount);
  encoder.int4(0);
  const client = new pg.Client({ connectionString: open.url });
  await client.connect();
  await copyIn(
    client,
    `COPY packhouse.${partition?.name} (network_id, block, hash, parent_hash, timestamp, transaction_count, proofs)
     FROM STDIN (FORMAT binary)`,
    encoder.finish(),
  );
  await client.end();
  const blocks = await open.main.staging.blocks({ start: 1_100, end: 1_101 });
  expect(blocks.map(({ number, client: name }) => [number, name])).toEqual([
    [1_100, 'reth/v1.1.0'],
    [1_101, undefined],
  ]);
});

it('makes printable text of bounded length of whatever a node says, and a bounded number of names', async () => {
  await open.main.staging.stage(runBy(2_100, [`a\n\u0000é${'x'.repeat(500)}`]));
  expect((await open.main.staging.blocks({ start: 2_100, end: 2_100 }))[0]?.client).toBe(
    `a?${'x'.repeat(98)}`,
  );
  await open.sql(
    `INSERT INTO packhouse.node_client (name) SELECT 'n' || i FROM generate_series(1, 10000) AS i`,
  );
  await open.main.staging.stage(runBy(3_100, ['one too many', 'n7']));
  const clients = (await open.main.staging.blocks({ start: 3_100, end: 3_101 })).map((block) => block.client);
  expect(clients).toEqual([undefined, 'n7']);
});
