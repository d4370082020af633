import path from 'node:path';
import { migrate } from '@packhouse/database';
import { type Program, runSql } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { startService } from '@packhouse/rig';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { writeNetworksFile } from './networks-file.js';
import { openDatabase } from './open-database.js';
import { checkPublished } from './published.js';
import { makeWorkspace, type Workspace } from './workspace.js';

// Old and new programs on one database. An old one is one that meets migrations which it does not know.
const WAIT = { timeout: 180_000, interval: 10 };
const FIRST = 1_000;
const chain = generateChain({ length: 80, txsPerBlock: 3, logsPerTx: 1, tracesPerTx: 2, startNumber: FIRST });
const LAST = FIRST + 79;
let workspace: Workspace;
let node: ReplayNode;
let running: Program[];
beforeEach(async () => {
  running = [];
  workspace = await makeWorkspace(inject('postgresUrl'));
  node = await createReplayNode({ blocks: chain, head: LAST - 40 });
});
afterEach(async () => {
  for (const { child, exit } of running) {
    child.kill('SIGKILL');
    await exit;
  }
  await node.close();
  await workspace.remove();
});

async function start(name: 'gateway' | 'ingester' | 'packer'): Promise<Program> {
  const service = startService(name, {
    DATABASE_URL: workspace.databaseUrl,
    NETWORKS_FILE: await writeNetworksFile(workspace, node.url, 8),
    OBJECT_STORE: path.join(workspace.directory, 'objects'),
    SIGNING_KEY_FILE: path.join(workspace.directory, 'signing-key.pem'),
  });
  running.push(service);
  return service;
}
/** What a version after this one would do to the schema. */
const future = (statement: string): Promise<unknown> =>
  runSql(
    workspace.databaseUrl,
    `WITH ledger AS (INSERT INTO packhouse.migration (name, run_on) VALUES ('9000_future', now())) ${statement}`,
  );

test('programs that are started before the migration wait for it, and then work', async () => {
  const services = [await start('ingester'), await start('packer'), await start('gateway')];
  for (const { log } of services) await expect.poll(log, WAIT).toContain('waiting for `packhouse migrate`');
  await migrate({ connectionString: workspace.databaseUrl });
  await Promise.all(services.map((service) => service.message('ready')));
});

test('a newer schema that only adds is worked on, by programs that run and by those that are started then', async () => {
  await migrate({ connectionString: workspace.databaseUrl });
  const database = openDatabase(workspace.databaseUrl);
  await database.networks.register({ id: 'main', chainId: 1 });
  const kinds = ['blocks', 'transactions', 'receipts', 'logs', 'traces'] as const;
  await database.network('main').backfills.add({ kinds, from: FIRST, to: LAST, priority: 1 });
  const published = async (): Promise<number> =>
    (await Promise.all(kinds.map((kind) => database.network('main').bundles.totals(kind)))).reduce(
      (sum, { blocks }) => sum + blocks,
      0,
    );
  await (await start('ingester')).message('ready');
  const packer = await start('packer');
  await packer.message('ready');
  await expect.poll(published, WAIT).toBeGreaterThan(0);
  await future('SELECT 1');
  await runSql(workspace.databaseUrl, 'ALTER TABLE packhouse.staged_block ADD COLUMN mood text');
  packer.child.kill('SIGTERM');
  expect(await packer.exit, packer.log()).toBe(0);
  node.setHead(LAST);
  await (await start('packer')).message('ready');
  await expect.poll(published, WAIT).toBe(chain.length * kinds.length);
  await checkPublished(workspace, chain, 'main');
  await database.close();
});

test('a newer schema that is declared breaking is refused in one sentence', async () => {
  await migrate({ connectionString: workspace.databaseUrl });
  await future("INSERT INTO packhouse.compatibility (migration, minimum) VALUES ('9000_future', 9000)");
  const packer = await start('packer');
  expect(await packer.exit).toBe(78);
  expect(packer.log()).toMatch(
    /^packhouse packer: The database schema was changed by 9000_future so that programs need schema version 9000, and this one has \d+\. Run the newer version\. \[DATABASE_NEWER\]$/m,
  );
});
