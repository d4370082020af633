import { encodeFragmentTable } from '@packhouse/bundle';
import { KINDS, type Kind } from '@packhouse/chain';
import { runSql } from '@packhouse/local';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { parseIngestJobId } from '../job-names.js';
import { chainFrom } from '../testing/chains.js';
import { emptyQueue, makeWorld, type World } from '../testing/world.js';
import { createFairShares } from './fair-shares.js';
import { plan } from './plan.js';

let world: World;
beforeEach(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(0, 2) }]);
  const hash = `0x${'0'.repeat(64)}`;
  await world.database.network('main').head.set({ number: 99_999, hash, finalized: 99_999 });
});
afterEach(() => world.close());

const want = (from: number, to: number, priority: number) =>
  world.database.network('main').backfills.add({ kinds: [...KINDS], from, to, priority });
const planned = async () =>
  [...(await world.queues.pendingIds('ingest'))]
    .map((id) => parseIngestJobId('main', id))
    .map((window) => `${window?.firstBlock}-${window?.lastBlock}`)
    .sort();

test('the first priority is fetched first, and of one priority what was ordered first', async () => {
  await want(500, 509, 7);
  await want(400, 409, 7);
  await want(300, 309, 900);
  await want(505, 514, 1);
  await plan({ ...world, maxPending: 3 });
  expect(await planned()).toEqual(['500-504', '505-511', '512-514']);
  await emptyQueue(world.queues, 'ingest');
  await plan({ ...world, maxPending: 4 });
  expect(await planned()).toEqual(['400-409', '500-504', '505-511', '512-514']);
});

test('of thousands of ranges each block is named once, and none of them is read again', async () => {
  await runSql(
    world.databaseUrl,
    `INSERT INTO packhouse.backfill (network_id, kinds, first_block, last_block, priority)
     SELECT n.id, 31, 10 * i, 10 * i + 4, 1 FROM packhouse.network AS n, generate_series(0, 1999) AS i`,
  );
  await want(0, 19_999, 2);
  const { backfills } = world.database.network('main');
  const before = [await backfills.runs(), await backfills.open()];
  for (let looks = 0; looks < 3; looks++) {
    expect(await plan({ ...world })).toMatchObject({ ingestJobs: looks === 0 ? 4 : 0 });
  }
  expect(await planned()).toEqual(['0-4', '10-14', '20-24', '30-31']);
  expect([await backfills.runs(), await backfills.open()].map((each, at) => each === before[at])).toEqual([
    true,
    true,
  ]);
});

/** Sizes are known, so that windows are not few: blocks 0 to 999 are published, with 1 MB each. */
const TABLE = Buffer.from(
  encodeFragmentTable([{ firstBlock: 0, lastBlock: 999, byteLength: 1, rawLength: 1_000_000_000, crc32: 0 }]),
).toString('hex');
const knowSizes = (kind: Kind = 'blocks', { start = 0, bytes = 1 } = {}) =>
  runSql(
    world.databaseUrl,
    `INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
       format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments)
     SELECT n.id, ${KINDS.indexOf(kind)}, ${start}, ${start + 999}, ${bytes}, 1000000000, 0, 1, '', '', '', '', 'x', '\\x${TABLE}' FROM packhouse.network AS n`,
  );

/** The same object, which notes the names of the methods that are called. */
function noting<T extends object>(object: T, asked: string[], name: string): T {
  return new Proxy(object, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      const called = `${name}.${String(key)}`;
      if (typeof value === 'object' && value !== null) return noting(value, asked, called);
      if (typeof value !== 'function') return value;
      return (...values: unknown[]) => {
        asked.push(called);
        return value.apply(target, values);
      };
    },
  });
}

test('a plan that finds nothing to do, as one every second does, asks for nine things', async () => {
  for (const kind of KINDS) await knowSizes(kind);
  await want(0, 999, 1);
  const asked: string[] = [];
  const network = noting(world.database.network('main'), asked, 'network');
  const database = { ...noting(world.database, asked, 'database'), network: () => network };
  const queues = noting(world.queues, asked, 'queues');
  expect(await plan({ ...world, database, queues })).toMatchObject({ ingestJobs: 0, packJobs: 0 });
  expect(asked.sort()).toEqual([
    'database.workers.slots',
    'network.alarms.list',
    'network.backfills.open',
    'network.backfills.runs',
    'network.coverages',
    'network.head.get',
    'network.quarantine.due',
    'network.quarantine.list',
    // These two add nothing, and send nothing.
    'queues.add',
    'queues.add',
    'queues.pendingIds',
  ]);
});

test('a small order is not behind a large one of the same priority', async () => {
  await want(1_000, 90_000, 5);
  const shares = createFairShares();
  await plan({ ...world, shares, maxPending: 2 });
  await want(95_000, 95_031, 5);
  await plan({ ...world, shares, maxPending: 3 });
  expect(await planned()).toContain('95000-95007');
});

/** The world with a clock that shows this instant of UTC. */
const at = (instant: string) => {
  const clock = { ...world.context.clock, now: () => Date.parse(`${instant}Z`) };
  return { ...world, context: { ...world.context, clock } };
};

test('a range is planned within its windows, and what waits when they close is taken back', async () => {
  await knowSizes();
  await want(1_000, 1_999, 5);
  await world.database
    .network('main')
    .backfills.add({ kinds: [...KINDS], from: 3_000, to: 9_999, priority: 1, windows: ['22:00-06:00'] });
  await plan({ ...at('2026-11-22T21:59'), maxPending: 3 });
  expect(await planned()).toEqual(['1000-1007', '1008-1015', '1016-1023']);
  await plan({ ...at('2026-11-22T22:00'), maxPending: 4 });
  expect((await planned()).slice(3)).toEqual(['3000-3007']);
  await plan({ ...at('2026-11-23T06:00'), maxPending: 3 });
  expect(await planned()).toEqual(['1000-1007', '1008-1015', '1016-1023']);
});

test('what waits of a range that was paused is taken back', async () => {
  await knowSizes();
  const { id } = await want(1_000, 1_999, 5);
  await want(1_008, 1_015, 9);
  await plan({ ...world, maxPending: 3 });
  await world.database.backfills.change(id, { state: 'paused' });
  await plan({ ...world, maxPending: 3 });
  expect(await planned()).toEqual(['1008-1015']);
});

test('windows are cut to the requests that a range may still send, and one that may send none is left out', async () => {
  await knowSizes();
  const { backfills } = world.database.network('main');
  const range = { kinds: [...KINDS], from: 1_000, to: 9_999, priority: 1, maxRequests: 100 };
  const { id } = await backfills.add(range);
  const spend = (requests: number) =>
    world.database.spending.add(
      [
        {
          day: 20_000,
          network: 'main',
          upstream: 'a',
          provider: 'a',
          method: 'eth_getLogs',
          owner: 'default',
        },
      ].map((count) => ({ ...count, backfill: id, requests, units: requests, bytes: 0 })),
    );
  await spend(40);
  await plan({ ...world, maxPending: 4 });
  // Of 60 requests, three a block.
  expect(await planned()).toEqual(['1000-1007', '1008-1015', '1016-1019']);
  expect((await plan({ ...world, maxPending: 4 })).ingestJobs).toBe(0);
  await spend(58);
  expect((await plan({ ...world, maxPending: 4 })).ingestJobs).toBe(0);
  expect(await planned()).toEqual([]);
  await world.database.backfills.change(id, { maxRequests: null });
  expect((await plan({ ...world, maxPending: 4 })).ingestJobs).toBe(4);
});

test('a window costs what all its kinds do', async () => {
  await knowSizes();
  await knowSizes('blocks', { start: 10_000 });
  await knowSizes('logs', { bytes: 3 });
  const { backfills } = world.database.network('main');
  await backfills.add({ kinds: ['blocks'], from: 1_000, to: 9_999, priority: 5, owner: 'a' });
  await backfills.add({ kinds: ['blocks', 'logs'], from: 11_000, to: 19_999, priority: 5, owner: 'b' });
  await plan({ ...world, maxPending: 20 });
  expect((await planned()).filter((window) => /^\d{5}-/.test(window)).length).toBe(4);
});

test('as many windows are kept as live ingesters run, twice', async () => {
  await knowSizes();
  await want(1_000, 90_000, 5);
  expect((await plan({ ...world })).ingestJobs).toBe(8);
  const beat = (pid: number) =>
    world.database.workers.heartbeat({
      networksDigest: '',
      networksProblem: null,
      id: `0000000${pid}-0000-4000-8000-000000000000`,
      role: 'ingester',
      host: 'here',
      pid,
      networks: ['main'],
      slots: 16,
      jobs: [],
    });
  for (const pid of [1, 2, 3, 4]) await beat(pid);
  await plan({ ...world });
  expect((await planned()).length).toBe(128);
});
