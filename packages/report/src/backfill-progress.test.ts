import { encodeFragmentTable } from '@packhouse/bundle';
import { KINDS, type Kind } from '@packhouse/chain';
import type { Backfill } from '@packhouse/database';
import { runSql } from '@packhouse/local';
import { FINALITY_ALARM, plan } from '@packhouse/pipeline';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { getBackfillProgress } from './backfill-progress.js';

let world: World;
beforeEach(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(0, 2) }]);
  const hash = `0x${'0'.repeat(64)}`;
  await world.database.network('main').head.set({ number: 99_999, hash, finalized: 99_999 });
});
afterEach(() => world.close());

const want = (from: number, to: number, more: Partial<Backfill> = {}) =>
  world.database.network('main').backfills.add({ kinds: [...KINDS], from, to, priority: 5, ...more });
const getReport = async ({ id }: { id: number }) =>
  getBackfillProgress(
    { database: world.database, queue: world.queues },
    (await world.database.backfills.find(id))!,
  );
/** What it waits for, with `until` where that is known; an ingester was seen just now, unless there is none. */
const waits = async (range: { id: number }, { ingester = true } = {}): Promise<string[]> => {
  if (ingester) {
    await world.database.workers.heartbeat({
      id: '00000001-0000-4000-8000-000000000000',
      role: 'ingester',
      host: 'here',
      pid: 1,
      slots: 1,
      networks: ['main'],
      jobs: [],
      networksDigest: '',
      networksProblem: null,
    });
  }
  return (await getReport(range)).waits.map(({ reason, until, behind }) =>
    [reason, ...(until === null ? [] : ['until']), ...(behind === undefined ? [] : [behind])].join(' '),
  );
};

/** Publishes blocks 0 to 999 of the kind `blocks`, as if that was an hour ago. */
const publish = () => {
  const table = encodeFragmentTable([
    { firstBlock: 0, lastBlock: 999, byteLength: 1, rawLength: 1, crc32: 0 },
  ]);
  return runSql(
    world.databaseUrl,
    `INSERT INTO packhouse.bundle (network_id, kind, first_block, last_block, byte_length, raw_length, proofs,
       format_version, sha256, first_hash, first_parent_hash, last_hash, object_key, fragments, published_at)
     SELECT n.id, 0, 0, 999, 1, 1, 0, 1, '', '', '', '', 'x', '\\x${Buffer.from(table).toString('hex')}',
       now() - interval '1 hour' FROM packhouse.network AS n`,
  );
};

test('what a range waits for is told by its main reason first', async () => {
  const { database } = world;
  const main = database.network('main');
  const range = await want(1_000, 1_999);
  expect(await waits(range, { ingester: false })).toEqual(['no-ingester']);
  expect(await waits(range)).toEqual(['planned']);
  await plan({ ...world, maxPending: 3 });
  expect(await waits(range)).toEqual(['queued']);
  expect(await waits(await want(3_000, 3_999, { priority: 9 }))).toEqual([`behind ${range.id}`]);
  expect(await waits(await want(100_000, 100_010))).toEqual(['not-final']);

  const tomorrow = new Date(Date.now() + 86_400_000).getUTCDay();
  const day = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'][tomorrow] as string;
  await database.backfills.change(range.id, { windows: [day], maxRequests: 10 });
  expect(await waits(range)).toEqual(['window-closed until']);
  const spent = { day: 20_000, network: 'main', upstream: 'a', provider: 'a', method: 'm', owner: 'default' };
  await database.spending.add([{ ...spent, backfill: range.id, requests: 10, units: 10, bytes: 0 }]);
  await database.backfills.change(range.id, { state: 'paused', windows: ['of a newer version'] });
  expect(await waits(range)).toEqual(['paused', 'window-closed', 'max-requests']);

  const other = await want(5_000, 5_999);
  const until = new Date(Date.now() + 3_600_000);
  await database.budgets.noteWait({ network: 'main', provider: 'a', period: 'day', until });
  expect(await waits(other)).toEqual(['budget until']);
  await database.budgets.change('a', () => null, 'ada');
  await main.alarms.raise({ name: FINALITY_ALARM, message: 'differs' });
  expect(await waits(other)).toEqual(['halted']);
  await main.alarms.clear(FINALITY_ALARM, 'operator');
  await main.pressure.note({ stagedBytes: 2, limitBytes: 1 });
  expect(await waits(other)).toEqual(['staging-full']);
});

test('a range of a network without a head says so', async () => {
  await world.database.networks.register({ id: 'new', chainId: 2 });
  const range = await world.database
    .network('new')
    .backfills.add({ kinds: ['logs'], from: 7, to: null, priority: 1 });
  expect(await waits(range, { ingester: false })).toEqual(['no-head', 'no-ingester']);
  expect(await getReport(range)).toMatchObject({ state: 'waiting', blocksLeft: 0, rate: null });
});

test('blocks are counted by kind, and the rate is that of the last day', async () => {
  await publish();
  const kinds: Kind[] = ['blocks'];
  const done = await want(0, 999, { kinds, deadline: new Date(Date.now() + 1_000) });
  expect(await getReport(done)).toMatchObject({ state: 'done', waits: [], deadline: null, blocksLeft: 0 });

  const fresh = await want(0, 1_999, { kinds, deadline: new Date(Date.now() + 1_800_000) });
  const report = await getReport(fresh);
  expect(report).toMatchObject({
    kinds: [{ kind: 'blocks', published: 1_000, missing: { waiting: 1_000 } }],
    blocksLeft: 1_000,
    requests: 0,
    rate: { of: 'network' },
    deadline: { standing: 'late' },
  });
  // 1,000 blocks an hour; to do as many in half of one takes twice the rate.
  expect(report.rate?.blocksPerSecond).toBeCloseTo(1_000 / 3_600, 1);
  expect(report.deadline?.takes).toBeCloseTo(1_000 / 1_800, 1);

  await runSql(
    world.databaseUrl,
    // Rates are of whole slots of ten minutes.
    `UPDATE packhouse.backfill SET created_at = date_bin('10 minutes', now() - interval '2 hours', 'epoch'), deadline = now() + interval '1 day'
     WHERE id = ${fresh.id}`,
  );
  expect((await getReport(fresh)).forecast).toBeNull();
  expect(await waits(fresh)).toEqual(['planned']);
  const later = await getReport(fresh);
  expect(later).toMatchObject({ rate: { of: 'backfill' }, deadline: { standing: 'kept' } });
  const age =
    (later.at.getTime() - (await world.database.backfills.find(fresh.id))!.createdAt.getTime()) / 3_600_000;
  expect(later.rate?.blocksPerSecond).toBeCloseTo(1_000 / (age * 3_600), 3);
  const hours = ((later.forecast as Date).getTime() - later.at.getTime()) / 3_600_000;
  expect(hours).toBeCloseTo(age, 1);

  const until = new Date(later.at.getTime() + 3 * 3_600_000);
  await world.database.budgets.noteWait({ network: 'main', provider: 'a', period: 'day', until });
  const waiting = await getReport(fresh);
  expect(((waiting.forecast as Date).getTime() - waiting.at.getTime()) / 3_600_000).toBeCloseTo(age + 3, 1);
  await world.database.backfills.change(fresh.id, { state: 'paused' });
  expect((await getReport(fresh)).forecast).toBeNull();
});
