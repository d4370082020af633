import { createDatabase } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { parseNetworks } from '@packhouse/networks';
import { createSpending } from '@packhouse/node-rpc';
import { takeJobs } from '@packhouse/pipeline';
import { createQueues } from '@packhouse/queue';
import { createReplayNode, type FaultRule, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { afterEach, expect, inject, test } from 'vitest';
import { createNetworkWorker } from './network-worker.js';
import { createNetworkWorkers } from './network-workers.js';

const LAST = 47;
const blocks = generateChain({ length: LAST + 1, txsPerBlock: 2, startNumber: 0 });
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
});

/** An ingester of one slot with these networks, all of their blocks requested. */
async function startIngester(nodes: Record<string, ReplayNode>, poor: string) {
  const stop = new AbortController();
  const logger = createLogger({ name: 'test', level: 'silent' });
  const context: Context = { logger, metrics: createMetrics(), clock: systemClock, signal: stop.signal };
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  closers.push(() => fresh.drop());
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  closers.push(() => database.close());
  const queues = await createQueues({ databaseUrl: fresh.url, context });
  closers.push(() => queues.close());
  const budget = {
    provider: poor,
    unit: 'requests' as const,
    weights: {},
    reserve: 0.1,
    pricePerMillion: null,
    currency: null,
    perSecond: null,
    perDay: 20,
    perMonth: null,
  };
  await database.budgets.change(poor, () => budget, 'test');
  const { budgets, spending: table } = database;
  const spending = await createSpending({ context, table, budgets, leases: budgets });
  closers.push(() => spending.close());
  const networks = Object.entries(nodes).map(([id, { url }]) => ({
    id,
    family: 'evm',
    chainId: 1,
    upstreams: [{ name: 'node', url, provider: id }],
  }));
  const parsed = parseNetworks(JSON.stringify({ networks }), { source: 'test', env: {} });
  const workers = createNetworkWorkers(context, (network) =>
    createNetworkWorker({
      context,
      database,
      queues,
      spending,
      network,
      notify: () => undefined,
      maxBodyBytes: 67_108_864,
      timeoutMs: 600_000,
      stagingMaxBytes: 1_000_000_000,
    }),
  );
  closers.push(() => workers.close());
  for (const { id } of parsed) {
    await database.networks.register({ id, chainId: 1 });
    const { head, backfills } = database.network(id);
    await head.set({ number: LAST, hash: `0x${'ab'.repeat(32)}`, finalized: LAST });
    await backfills.add({ kinds: ['blocks'], from: 0, to: LAST, priority: id === 'well' ? 900 : 1 });
  }
  const file = { digest: () => '', problem: () => null };
  const jobs = await takeJobs({
    context,
    database,
    queues,
    queue: 'ingest',
    role: 'ingester',
    pid: 1,
    networks: workers.networks,
    file,
    concurrency: 1,
    handler: workers.ingest,
  });
  closers.push(() => jobs.close({ now: true }));
  closers.push(() => stop.abort(new Error('stopped')));
  return { database, start: () => workers.replace(parsed) };
}

test('networks that are slow, dead or over budget take no slot of another', async () => {
  const hangs: FaultRule = { when: { method: 'eth_getBlockByNumber' }, do: 'hang' };
  const node = async (faults: FaultRule[] = []): Promise<ReplayNode> => {
    const made = await createReplayNode({ blocks, faults });
    closers.push(() => made.close());
    return made;
  };
  const nodes = { slow: await node([hangs]), dead: await node(), poor: await node(), well: await node() };
  await nodes.dead.close();
  const { database, start } = await startIngester(nodes, 'poor');
  const running = async (): Promise<string[]> =>
    (await database.workers.list()).flatMap(({ jobs }) => jobs.map(({ job }) => job.split('.')[0] as string));
  await start();
  await expect
    .poll(async () => (await database.network('well').coverage('blocks')).staged, { timeout: 120_000 })
    .toEqual([{ firstBlock: 0, lastBlock: LAST }]);
  await expect.poll(running, { timeout: 120_000 }).toContain('slow');
  expect((await database.network('slow').coverage('blocks')).staged).toEqual([]);
  expect(nodes.poor.stats().calls).toBeLessThanOrEqual(20);
});
