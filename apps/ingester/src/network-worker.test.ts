import { KINDS } from '@packhouse/chain';
import { createDatabase } from '@packhouse/database';
import { freshDatabase } from '@packhouse/local';
import { type Network, parseNetworks } from '@packhouse/networks';
import { createSpending } from '@packhouse/node-rpc';
import { createQueues } from '@packhouse/queue';
import { createReplayNode, generateChain, type ReplayNodeOptions } from '@packhouse/replay-node';
import {
  type Clock,
  type Context,
  createLogger,
  createMetrics,
  openScope,
  systemClock,
} from '@packhouse/runtime';
import { afterEach, expect, inject, test } from 'vitest';
import { createNetworkWorker, type NetworkWorker } from './network-worker.js';

const blocks = generateChain({ length: 8, txsPerBlock: 2, startNumber: 0 });
/** Of the nodes' provider; null: no budget. */
let perDay: number | null = null;
/** Of the loops of a network that has a leader: what one waits for is not how long it sleeps. */
const LONGEST_PAUSE_MS = 100;
const clock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, LONGEST_PAUSE_MS), signal),
};
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  perDay = null;
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
});

/** A worker of chain 1 with these nodes. */
async function makeMainWorker(...nodes: Omit<ReplayNodeOptions, 'blocks'>[]) {
  return makeWorker(1, ...nodes);
}

/** A worker of a chain with these nodes, over a database with chain 1. */
async function makeWorker(chainId: number, ...nodes: Omit<ReplayNodeOptions, 'blocks'>[]) {
  const stop = openScope();
  const lines: string[] = [];
  const context: Context = {
    logger: createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } }),
    metrics: createMetrics(),
    clock,
    signal: stop.signal,
  };
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  closers.push(() => fresh.drop());
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  closers.push(() => database.close());
  const queues = await createQueues({ databaseUrl: fresh.url, context });
  closers.push(() => queues.close());
  const running = await Promise.all(nodes.map((options) => createReplayNode({ blocks, ...options })));
  closers.push(() => Promise.all(running.map((node) => node.close())));
  const upstreams = running.map(({ url }, i) => ({ name: `node-${i + 1}`, url, priority: i + 1 }));
  const file = { networks: [{ id: 'main', family: 'evm', chainId, upstreams }] };
  const network = parseNetworks(JSON.stringify(file), { source: 'test', env: {} })[0] as Network;
  await database.networks.register({ id: 'main', chainId: 1 });
  const budget = {
    provider: '127.0.0.1',
    unit: 'requests' as const,
    perSecond: null,
    perDay,
    perMonth: null,
    weights: {},
    reserve: 0.1,
    pricePerMillion: null,
    currency: null,
  };
  if (perDay !== null) await database.budgets.change(budget.provider, () => budget, 'test');
  const { budgets } = database;
  const spending = await createSpending({ context, table: database.spending, budgets, leases: budgets });
  closers.push(() => spending.close());
  const worker: NetworkWorker = await createNetworkWorker({
    context,
    database,
    queues,
    spending,
    network,
    maxBodyBytes: 67_108_864,
    timeoutMs: 2_000,
    stagingMaxBytes: 1_000_000_000,
    notify: () => undefined,
  });
  closers.push(() => worker.close());
  return {
    worker,
    lead: () => worker.lead(stop.signal),
    database,
    spending,
    queues,
    lines,
    signal: context.signal,
    stop: () => stop.abort(new Error('stopped')),
    getCalls: () => running.reduce((sum, node) => sum + node.stats().calls, 0),
    gone: () => Promise.all(running.map((node) => node.close())),
  };
}

const job = { network: 'main', firstBlock: 0, lastBlock: 7, kinds: [...KINDS] };

test('an ingester that does not lead stages nothing of another chain', async () => {
  const { worker, database, signal } = await makeMainWorker({ chainId: 5 });
  await expect(worker.ingest(job, signal, 1)).rejects.toMatchObject({ code: 'NODE_WRONG_CHAIN' });
  expect(await database.network('main').staging.newest()).toBeNull();
});

test('nothing of another chain is staged under a stored name, by an ingester whose file and node agree on it', async () => {
  const { worker, database, signal } = await makeWorker(5, { chainId: 5 });
  await expect(worker.ingest(job, signal, 1)).rejects.toThrow(
    'Network "main" has chain id 1 in the database, and now it is given as 5.',
  );
  expect(await database.network('main').staging.newest()).toBeNull();
});

test('a worker that is replaced lets another one lead, and finishes what it is given', async () => {
  const { worker, database, signal } = await makeMainWorker({});
  const replaced = new AbortController();
  const leading = worker.lead(replaced.signal);
  await expect.poll(() => leadIsFree(), { timeout: 120_000 }).toBe(false);
  await expect
    .poll(async () => (await database.network('main').head.get())?.number, { timeout: 120_000 })
    .toBe(7);
  replaced.abort(new Error('replaced'));
  await leading;
  expect(await leadIsFree()).toBe(true);
  await worker.ingest(job, signal, 1);
  expect((await database.network('main').staging.newest())?.number).toBe(7);

  async function leadIsFree(): Promise<boolean> {
    const lock = await database.tryLock('lead:main');
    await lock?.release();
    return lock !== null;
  }
});

test('a job is done where one of the nodes is on the right chain', async () => {
  const { worker, database, signal } = await makeMainWorker({ chainId: 5 }, {});
  await worker.ingest(job, signal, 1);
  expect((await database.network('main').staging.newest())?.number).toBe(7);
});

test('nodes that are gone keep nothing from being planned: what is staged is packed meanwhile', async () => {
  const { worker, lead, database, queues, signal, stop, gone } = await makeMainWorker({});
  await database.network('main').head.set({ number: 7, hash: `0x${'ab'.repeat(32)}`, finalized: 7 });
  await worker.ingest({ ...job, lastBlock: 3 }, signal, 1);
  await database.network('main').backfills.add({ kinds: [...KINDS], from: 0, to: 7, priority: 1 });
  await worker.ingest({ ...job, firstBlock: 4 }, signal, 1);
  await gone();
  const leading = lead();
  await expect
    .poll(async () => (await queues.pendingIds('pack')).size, { timeout: 120_000 })
    .toBe(KINDS.length);
  stop();
  await leading;
});

test('a method that no node offers keeps back its kind alone', async () => {
  const capabilities = { traceBlock: false, debugFlat: false, debugCall: false };
  const { worker, database, signal } = await makeMainWorker({ capabilities });
  await worker.ingest(job, signal, 1);
  const { coverage, quarantine } = database.network('main');
  for (const kind of KINDS.filter((each) => each !== 'traces')) {
    expect((await coverage(kind)).staged, kind).toEqual([{ firstBlock: 0, lastBlock: 7 }]);
  }
  expect(await quarantine.list()).toMatchObject([
    { firstBlock: 0, lastBlock: 7, kinds: ['traces'], cause: 'NODE_METHOD_MISSING' },
  ]);
});

test('the rules are tried on the first wanted block, and again when older ones are wanted', async () => {
  const { lead, database, lines, stop } = await makeMainWorker({});
  const tried = () =>
    lines.flatMap((line) => /Verified sample blocks? [\d and]+/.exec(line)?.[0].trim() ?? []);
  const { backfills } = database.network('main');
  await backfills.add({ kinds: ['blocks'], from: 4, to: 7, priority: 1 });
  const leading = lead();
  await expect.poll(tried, { timeout: 120_000 }).toEqual(['Verified sample blocks 4 and 7']);
  await backfills.add({ kinds: ['blocks'], from: 2, to: 3, priority: 1 });
  await expect
    .poll(tried, { timeout: 120_000 })
    .toEqual(['Verified sample blocks 4 and 7', 'Verified sample blocks 2 and 7']);
  stop();
  await leading;
});

test('what a budget keeps back waits by name, is held back by no quarantine, and goes on when there is more', async () => {
  perDay = 20;
  const { worker, database, spending, signal } = await makeMainWorker({});
  const mine = { ...job, owner: 'team', backfill: 7 };
  await expect(worker.ingest(mine, signal, 1)).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
  expect(await database.network('main').quarantine.list()).toEqual([]);
  expect(await database.budgets.waits()).toMatchObject([
    { network: 'main', provider: '127.0.0.1', period: 'day' },
  ]);
  await database.budgets.change('127.0.0.1', (before) => before && { ...before, perDay: 1_000 }, 'test');
  await expect
    .poll(() =>
      worker.ingest(mine, signal, 1).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  expect((await database.network('main').staging.newest())?.number).toBe(7);
  await spending.close();
  const spent = await database.spending.ofBackfills([7]);
  expect(spent.get(7)?.requests).toBeGreaterThan(16);
  expect((await database.spending.owners(0, 99_999)).map(({ owner }) => owner)).toEqual(['-', 'team']);
});

test('of a backfill with a limit no request above it is sent, whatever its windows and tries', async () => {
  const { worker, database, getCalls, signal } = await makeMainWorker({});
  await worker.ingest({ ...job, lastBlock: 0 }, signal, 1);
  const before = getCalls();
  const terms = { kinds: [...KINDS], from: 0, to: 7, priority: 1, maxRequests: 10 };
  const { id } = await database.network('main').backfills.add(terms);
  const mine = { ...job, backfill: id };
  const tries = [1, 2].map((attempt) => worker.ingest(mine, signal, attempt));
  for (const tried of await Promise.allSettled([...tries, worker.ingest(mine, signal, 3)])) {
    expect(tried).toMatchObject({ reason: { code: 'BUDGET_EXHAUSTED' } });
  }
  expect(getCalls() - before).toBe(10);
  expect(await database.network('main').quarantine.list()).toEqual([]);
  await database.backfills.change(id, { maxRequests: 1_000 });
  await worker.ingest(mine, signal, 1);
  expect((await database.network('main').staging.newest())?.number).toBe(7);
  await database.backfills.change(id, { state: 'paused' });
  await database.network('main').staging.abandon(0);
  await worker.ingest(mine, signal, 1);
  expect(await database.network('main').staging.newest()).toBeNull();
});
