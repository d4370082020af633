import { KINDS } from '@packhouse/chain';
import { type Context, createLogger, createMetrics } from '@packhouse/runtime';
import { afterEach, expect, inject, test } from 'vitest';
import { ingest } from '../ingest/ingest.js';
import { chainFrom } from '../testing/chains.js';
import { emptyQueue, makeWorld, type World } from '../testing/world.js';
import { type BackPressure, createBackPressure } from './back-pressure.js';
import { plan } from './plan.js';

/** The first of a segment. */
const FIRST = 1_024;
/** Some windows of the planner, and several times what fits below LIMIT_BYTES. */
const LENGTH = 320;
const LIMIT_BYTES = 200_000;
let world: World;
afterEach(() => world.close());

/** Watches a limit, with a separate clock that advances at every look. */
function watch(limitBytes: number): { pressure: BackPressure; lines: string[]; context: Context } {
  const lines: string[] = [];
  let now = 0;
  const context: Context = {
    ...world.context,
    logger: createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } }),
    metrics: createMetrics(),
    clock: {
      ...world.context.clock,
      elapsed: () => {
        now += 1_000;
        return now;
      },
    },
  };
  const { database } = world;
  const pressure = createBackPressure({ context, database, network: 'main', limitBytes });
  return { pressure, lines, context };
}

/** One plan, and every ingest job that it enqueued. */
async function planAndIngest(pressure: BackPressure): ReturnType<typeof plan> {
  const report = await plan({ ...world, pressure });
  for (const id of await world.queues.pendingIds('ingest')) {
    const [, firstBlock, lastBlock] = id.split('.').map(Number) as [number, number, number, number];
    await ingest(world.parts, { firstBlock, lastBlock, kinds: KINDS }, world.context.signal);
  }
  await emptyQueue(world.queues, 'ingest');
  return report;
}

async function packAndReclaim(): Promise<void> {
  await world.packAll();
  await emptyQueue(world.queues, 'pack');
  await world.database.network('main').staging.reclaim();
}

const stagedBlocks = async (): Promise<number> =>
  (await world.database.network('main').staging.blocks({ firstBlock: 0, lastBlock: 9_999 })).length;

const isDone = async (length: number): Promise<boolean> => {
  for (const kind of KINDS) {
    const { published } = await world.database.network('main').coverage(kind);
    if (published.reduce((sum, { firstBlock, lastBlock }) => sum + lastBlock - firstBlock + 1, 0) < length)
      return false;
  }
  return true;
};

test('while nobody packs staging stays bounded; once somebody does, everything is fetched and published', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, LENGTH) }], { maxBlocks: 64 });
  await world.want(FIRST, FIRST + LENGTH - 1);
  await world.noteHead();
  const { pressure, lines, context } = watch(LIMIT_BYTES);
  const backPressure = async (): Promise<string> =>
    (await context.metrics.render()).match(/packhouse_backpressure\{network="main"\} (\d)/)?.[1] ?? '';

  let report = await planAndIngest(pressure);
  expect(report).toMatchObject({ pressed: false });
  for (let round = 0; round < 20 && !report.pressed; round++) report = await planAndIngest(pressure);
  expect(report.pressed).toBe(true);
  const held = await stagedBlocks();
  const bytes = await world.database.staging.diskBytes();
  expect(held).toBeLessThan(LENGTH);
  for (let round = 0; round < 5; round++) {
    expect(await planAndIngest(pressure)).toMatchObject({ pressed: true, ingestJobs: 0 });
  }
  expect(await stagedBlocks()).toBe(held);
  expect(await world.database.staging.diskBytes()).toBe(bytes);
  expect(await backPressure()).toBe('1');
  expect(await world.database.network('main').pressure.get()).toMatchObject({ limitBytes: LIMIT_BYTES });
  expect(await context.metrics.render()).toContain(`packhouse_staging_limit_bytes ${LIMIT_BYTES}`);

  for (let round = 0; round < 200 && !(await isDone(LENGTH)); round++) {
    await packAndReclaim();
    await planAndIngest(pressure);
  }
  await packAndReclaim();
  expect(await isDone(LENGTH)).toBe(true);
  await plan({ ...world, pressure });
  expect(await backPressure()).toBe('0');
  expect(await world.database.network('main').pressure.get()).toBeNull();
  const said = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(said[0]).toMatch(/^staging is full/);
  // Once at each change: never twice the same in a row.
  for (const [i, line] of said.entries()) expect(line).not.toBe(said[i - 1]);
});

test('staging that is full with blocks behind a hole gets the blocks of the hole, one window at a time', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 120) }], { maxBlocks: 80 });
  await world.want(FIRST, FIRST + 119);
  await world.noteHead();
  const { signal } = world.context;
  await ingest(world.parts, { firstBlock: FIRST + 40, lastBlock: FIRST + 79, kinds: KINDS }, signal);
  const { pressure } = watch(1);
  const first = await plan({ ...world, pressure });
  expect(first).toMatchObject({ pressed: true, ingestJobs: 1, packJobs: 0 });
  const [id] = await world.queues.pendingIds('ingest');
  expect(id).toMatch(/^main\.1024\./);
  // As long as that window is in flight there is no other.
  expect((await plan({ ...world, pressure })).ingestJobs).toBe(0);
  await emptyQueue(world.queues, 'ingest');

  for (let round = 0; round < 200 && !(await isDone(120)); round++) {
    expect((await planAndIngest(pressure)).ingestJobs).toBeLessThanOrEqual(1);
    await packAndReclaim();
  }
  expect(await isDone(120)).toBe(true);
});

test('windows that wait when staging becomes full are taken back, and fetching goes on below nine tenths of the limit', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 120) }]);
  await world.want(FIRST, FIRST + 119);
  await world.noteHead();
  let bytes = 0;
  const database = {
    ...world.database,
    staging: { ...world.database.staging, diskBytes: async () => bytes },
  };
  const { pressure: _, context } = watch(1_000);
  const pressure = createBackPressure({ context, database, network: 'main', limitBytes: 1_000 });
  const look = (): ReturnType<typeof plan> => plan({ ...world, pressure });
  expect((await look()).ingestJobs).toBeGreaterThan(1);
  bytes = 1_001;
  expect(await look()).toMatchObject({ pressed: true, severe: false, ingestJobs: 1 });
  expect((await world.queues.pendingIds('ingest')).size).toBe(1);
  bytes = 1_501;
  expect(await look()).toMatchObject({ pressed: true, severe: true, ingestJobs: 0 });
  bytes = 950;
  expect(await look()).toMatchObject({ pressed: true, severe: false });
  bytes = 900;
  const resumed = await look();
  expect(resumed.pressed).toBe(false);
  expect(resumed.ingestJobs).toBeGreaterThan(1);
});

test('far beyond the limit the head is noted and not staged', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 12), finalized: { depth: 8 } }]);
  await world.want(FIRST, null);
  expect((await world.follow({ mayStage: () => false })).staged).toBe(0);
  expect(await world.database.network('main').head.get()).toMatchObject({ number: FIRST + 11 });
  expect((await world.follow({ mayStage: () => true })).staged).toBe(8);
});
