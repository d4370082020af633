import { canonicalRecord, KINDS, type Kind } from '@packhouse/chain';
import { createDatabase, type Database } from '@packhouse/database';
import { redisInstalled, runSql, startRedis } from '@packhouse/local';
import { createQueues, type Queues } from '@packhouse/queue';
import { type RecordedBlock, sentBy } from '@packhouse/replay-node';
import { isPackhouseError, systemClock } from '@packhouse/runtime';
import { afterEach, expect, inject, test, vi } from 'vitest';
import { ingest } from './ingest/ingest.js';
import { plan } from './plan/plan.js';
import { pack } from './publish/pack.js';
import { publish } from './publish/publish.js';
import { chainFrom } from './testing/chains.js';
import { makeWorld, type World } from './testing/world.js';

/** The first of a segment. */
const FIRST = 1_024;
const LENGTH = 120;
const WAIT = { timeout: 240_000, interval: 50 };

let world: World;
let blocks: RecordedBlock[];
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
  await world.close();
});

async function begin(maxBlocks: number): Promise<void> {
  blocks = chainFrom(FIRST, LENGTH);
  world = await makeWorld(inject('postgresUrl'), [{ blocks, latencyMs: 3 }], { maxBlocks });
  await world.want(FIRST, FIRST + LENGTH - 1);
  await world.noteHead();
}

/** Another process's view of the database. */
function another(): Database {
  const database = createDatabase({
    connectionString: world.databaseUrl,
    context: world.context,
    poolSize: 4,
    applicationName: 'another',
  });
  closers.push(() => database.close());
  return database;
}

const packKind = (database: Database, kind: Kind): Promise<number> =>
  pack(
    {
      ...world,
      database,
      publish: (...each) => publish({ ...world, database }, ...each),
    },
    kind,
    world.context.signal,
  );

async function publishedBlocks(kind: Kind): Promise<number> {
  const { published } = await world.database.network('main').coverage(kind);
  return published.reduce((sum, { firstBlock, lastBlock }) => sum + lastBlock - firstBlock + 1, 0);
}

/** Checks that every block of every kind is in exactly one bundle, as the node sent it. */
async function expectExactlyOnce(): Promise<void> {
  for (const kind of KINDS) {
    const rows = await world.database.network('main').bundles.list(kind, 0, 10_000);
    let next = FIRST;
    for (const { firstBlock, lastBlock } of rows) {
      expect(firstBlock).toBe(next);
      next = lastBlock + 1;
    }
    expect(next).toBe(FIRST + LENGTH);
    const records = await world.published(kind);
    for (const block of blocks) {
      expect(records.get(block.number)).toBe(canonicalRecord(kind, sentBy(block, kind)));
    }
  }
}

/** Plans repeatedly, like a leader; an unavailable queue is an error of that plan alone. */
function startPlanner(queues: Queues, database: Database): { escaped: unknown[] } {
  const escaped: unknown[] = [];
  let stopped = false;
  const loop = async (): Promise<void> => {
    while (!stopped) {
      try {
        await plan({ ...world, database, queues, maxPending: 8 });
      } catch (error) {
        if (!isPackhouseError(error, 'QUEUE_UNAVAILABLE')) escaped.push(error);
      }
      await systemClock.sleep(20);
    }
  };
  const done = loop();
  closers.push(async () => {
    stopped = true;
    await done;
  });
  return { escaped };
}

/** Workers of both queues. */
async function startWorkers(
  queues: Queues,
  counts: { ingest: number; pack: number },
): Promise<Awaited<ReturnType<Queues['work']>>[]> {
  const workers = [
    await queues.work(
      'ingest',
      async (job) => void (await ingest(world.parts, job.payload, job.signal, job.attempt)),
      { concurrency: counts.ingest },
    ),
    await queues.work('pack', async (job) => void (await packKind(world.database, job.payload.kind)), {
      concurrency: counts.pack,
    }),
  ];
  return workers;
}

/** Runs a whole system while its queues are damaged repeatedly, and checks the published blocks. */
async function survives(open: () => Promise<Queues>, harm: (round: number, queues: Queues) => Promise<void>) {
  const opened = async (): Promise<Queues> => {
    const queues = await open();
    closers.push(() => queues.close());
    return queues;
  };
  const [first, second, working] = [await opened(), await opened(), await opened()];
  const planners = [startPlanner(first, another()), startPlanner(second, another())];
  let workers = await startWorkers(working, { ingest: 1, pack: 1 });
  for (let round = 0; round < 6; round++) {
    const before = await publishedBlocks('traces');
    await vi.waitFor(async () => {
      const now = await publishedBlocks('traces');
      if (now <= before && now < LENGTH) throw new Error('nothing was published since');
    }, WAIT);
    await vi.waitFor(() => harm(round, first), WAIT);
    if (round % 2 === 1) {
      await Promise.all(workers.map((worker) => worker.close({ now: true })));
      workers = await startWorkers(working, { ingest: 1 + round, pack: 6 - round });
    }
  }
  await vi.waitFor(async () => {
    for (const kind of KINDS) expect(await publishedBlocks(kind)).toBe(LENGTH);
  }, WAIT);
  await Promise.all(workers.map((worker) => worker.close()));
  for (const { escaped } of planners) expect(escaped).toEqual([]);
  expect(await world.database.network('main').quarantine.list()).toEqual([]);
  await expectExactlyOnce();
}

/** Removes every other job. */
async function deleteSome(queues: Queues, round: number): Promise<void> {
  for (const queue of ['ingest', 'pack'] as const) {
    const ids = [...(await queues.pendingIds(queue))].filter((_, i) => (i + round) % 2 === 0);
    await queues.remove(queue, ids);
  }
}

test('two planners and any number of workers get everything published exactly once while the queue tables are dropped and jobs deleted', {
  timeout: 600_000,
}, async () => {
  await begin(4);
  await survives(
    () =>
      createQueues({ databaseUrl: world.databaseUrl, context: world.context, lockMs: 2_000, backoffMs: 50 }),
    async (round, queues) => {
      if (round % 3 === 0) await runSql(world.databaseUrl, 'DROP SCHEMA IF EXISTS bullmq CASCADE');
      else if (round % 3 === 1) await deleteSome(queues, round);
      else await runSql(world.databaseUrl, 'DELETE FROM bullmq.job');
    },
  );
});

test.skipIf(!redisInstalled())(
  'the same while Redis loses all it has (needs redis-server)',
  { timeout: 600_000 },
  async () => {
    await begin(4);
    const redis = await startRedis();
    closers.push(() => redis.stop());
    await survives(
      () => createQueues({ redisUrl: redis.url, context: world.context, lockMs: 2_000, backoffMs: 50 }),
      async (round, queues) => {
        if (round % 2 === 0) expect(await redis.command('FLUSHALL')).toBe('+OK\r\n');
        else await deleteSome(queues, round);
      },
    );
  },
);

/** The lock is a matter of speed: what holds without it is tried at every change, the rest at night. */
const LOCKS: [name: string, broken: boolean][] = [
  ['although their lock were broken: the index alone refuses an overlap', true],
];
if (process.env.SEEDS === 'many') LOCKS.push(['with their lock', false]);

test.each(LOCKS)(
  'ten packers at once publish every block exactly once, %s',
  { timeout: 300_000 },
  async (_, broken) => {
    await begin(4);
    const { signal } = world.context;
    for (let at = 0; at < LENGTH; at += 40) {
      const window = { firstBlock: FIRST + at, lastBlock: FIRST + at + 39, kinds: KINDS };
      await ingest(world.parts, window, signal);
    }
    const lost = new AbortController().signal;
    const fence = { name: 'pack', holder: 'none', token: 1 };
    const packers = Array.from({ length: 10 }, () => {
      const database = another();
      return broken
        ? { ...database, tryLock: async () => ({ release: async () => undefined, lost, fence }) }
        : database;
    });
    const counts = { published: 0 };
    for (const kind of ['logs', 'blocks'] as const) {
      const each = await Promise.all(packers.map((database) => packKind(database, kind)));
      counts.published += each.reduce((sum, published) => sum + published, 0);
      const rows = await world.database.network('main').bundles.list(kind, 0, 10_000);
      expect(counts.published).toBe(rows.length);
      counts.published = 0;
    }
    for (const kind of KINDS) await packKind(world.database, kind);
    await expectExactlyOnce();
  },
);
