import path from 'node:path';
import { type Program, type ProgramEvent, runSql, startPostgres } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { getChildren } from './processes.js';
import { checkPublished } from './published.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// What goes away in the middle, and comes back, costs nothing but time: everything is published exactly once.
const FIRST = 1_000;
const MIDDLE = 1_059;
const LAST = 1_119;
const chain = generateChain({
  length: LAST - FIRST + 1,
  txsPerBlock: 6,
  logsPerTx: 2,
  tracesPerTx: 3,
  seed: 11,
  startNumber: FIRST,
});
let workspace: Workspace;
let cli: Program | undefined;
let nodes: ReplayNode[];
beforeEach(async () => {
  nodes = [];
  workspace = await makeWorkspace(inject('postgresUrl'));
});
afterEach(async () => {
  await end(cli);
  await Promise.all(nodes.map((node) => node.close()));
  await workspace.remove();
});

async function node(options: Partial<Parameters<typeof createReplayNode>[0]> = {}): Promise<ReplayNode> {
  const made = await createReplayNode({ blocks: chain, ...options });
  nodes.push(made);
  return made;
}

function start(rpc: readonly string[], env: Record<string, string> = {}, to = LAST): Program {
  cli = startLocal(workspace, { rpc, from: FIRST, to, env });
  return cli;
}

const staged =
  (number: number) =>
  (event: ProgramEvent): boolean =>
    (event.staged as number) >= number - FIRST + 1;

async function finished(run: Program): Promise<void> {
  expect(await run.exit, run.stderr() + run.stdout().slice(-2_000)).toBe(0);
  expect(run.events.filter((event) => event.event === 'quarantined')).toEqual([]);
}

test('the node goes away with requests in flight and comes back at its address', async () => {
  const first = await node({ faults: [{ do: 'hang', when: { block: MIDDLE } }] });
  const run = start([first.url]);
  await expect.poll(() => first.faults.hits().hang, { timeout: 180_000 }).toBeGreaterThan(0);
  await first.close();
  await run.event('problem', (event) => event.part === 'ingester');
  await node({ port: first.port });
  await finished(run);
  await checkPublished(workspace, chain, 'ethereum');
});

test('Postgres ends all its connections, at the start, in the middle and while bundles are published', async () => {
  const ended: number[] = [];
  const endConnections = async (): Promise<void> => {
    const rows = await runSql(
      workspace.databaseUrl,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    ended.push(rows.length);
  };
  const upstream = await node({ head: MIDDLE });
  const run = start([upstream.url]);
  await run.event('ready');
  await endConnections();
  await run.event('progress', staged(MIDDLE));
  await endConnections();
  upstream.setHead(LAST);
  await run.event('progress', (event) => (event.staged as number) > MIDDLE - FIRST + 1);
  await endConnections();
  await run.event('published');
  await endConnections();
  await finished(run);
  // Whether the last ones still met anybody is a matter of luck.
  expect(ended.slice(0, 2).every((count) => count > 0)).toBe(true);
  await checkPublished(workspace, chain, 'ethereum');
});

test('the embedded Postgres is killed: it is started again and nothing that it had is lost', async () => {
  const upstream = await node({ head: MIDDLE });
  const run = start([upstream.url], { DATABASE_URL: '' });
  await run.event('progress', staged(MIDDLE));
  const server = (await getChildren(run.child.pid as number)).find(({ command }) =>
    /postgres -D /.test(command),
  );
  process.kill(server?.pid as number, 'SIGKILL');
  await run.event('problem', (event) => event.part === 'postgres');
  upstream.setHead(LAST);
  await finished(run);
  const postgres = await startPostgres({ directory: path.join(workspace.directory, 'postgres') });
  try {
    await checkPublished({ ...workspace, databaseUrl: postgres.url }, chain, 'ethereum');
  } finally {
    await postgres.stop();
  }
});

test('a second upstream that lags behind is asked only for what it has', async () => {
  const [full, lagging] = [await node(), await node({ head: MIDDLE })];
  await finished(start([lagging.url, full.url]));
  expect(lagging.stats().requests).toBeGreaterThan(0);
  await checkPublished(workspace, chain, 'ethereum');
});

test('a node that lies about receipts is caught, and the honest one is asked', async () => {
  const liar = await node({
    faults: [
      {
        do: 'tamper',
        when: { method: 'eth_getBlockReceipts' },
        path: [0, 'cumulativeGasUsed'],
        value: '0x1',
      },
    ],
  });
  const honest = await node();
  // It lies about each block: a third of them is enough.
  await finished(start([liar.url, honest.url], {}, FIRST + 39));
  expect(liar.faults.hits().tamper).toBeGreaterThan(0);
  await checkPublished(workspace, chain.slice(0, 40), 'ethereum');
});

/** Three runs, one after the other. */
const THREE_RUNS_MS = 480_000;

test('a block that no node can give is named, the rest is published, and a new start asks for it again', {
  timeout: THREE_RUNS_MS,
}, async () => {
  const withhold = { do: 'nullReceipts', when: { block: MIDDLE } } as const;
  const failing = await node({ faults: [withhold] });
  const first = start([failing.url]);
  expect(await first.exit, first.stderr()).toBe(2);
  expect(await first.event('quarantined')).toMatchObject({ from: MIDDLE, cause: 'NODE_ANSWER_MISSING' });
  expect(first.events.at(-1)).toMatchObject({
    event: 'done',
    blocks: chain.length - 1,
    missing: [{ from: MIDDLE, to: MIDDLE }],
  });
  // Only the kinds that need what failed lack the block.
  await checkPublished(workspace, chain, 'ethereum', {
    missing: [MIDDLE],
    missingKinds: ['receipts', 'logs'],
  });

  const asked = failing.faults.hits().nullReceipts as number;
  cli = startLocal(workspace, { rpc: [failing.url], from: FIRST, to: LAST, json: false });
  expect(await cli.exit).toBe(2);
  expect(cli.stdout()).toMatch(/Blocks 1000-1119: 1059 is missing\. .*start again.*\[RANGE_INCOMPLETE\]\n/);
  expect(cli.stdout()).toMatch(/^ {2}block 1059: .* \[NODE_ANSWER_MISSING\]$/m);
  expect(failing.faults.hits().nullReceipts).toBeGreaterThan(asked);

  const honest = await node();
  await finished(start([honest.url]));
  expect(cli.events.at(-1)).toMatchObject({ event: 'done', blocks: chain.length });
  await checkPublished(workspace, chain, 'ethereum');
});
