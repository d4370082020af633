import { createSigner, makeSigningKey, readSigningKey } from '@packhouse/manifest';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { generateChain } from '@packhouse/replay-node';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createObserver, type Observer } from './observe.js';

const blocks = generateChain({ length: 40, txsPerBlock: 2, startNumber: 100 });
let world: World;
let observer: Observer;
beforeEach(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks, head: 139, finalized: { depth: 8 } }], {
    maxBlocks: 8,
  });
  observer = createObserver(world);
});
afterEach(() => world.close());

/** The rendered value of a series; undefined if it is not rendered. */
async function value(series: string): Promise<number | undefined> {
  const line = (await world.context.metrics.render())
    .split('\n')
    .find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test('tells head, holes and what is published, out of Postgres alone', async () => {
  await world.want(100, null);
  await world.noteHead();
  await observer.update();
  expect(await value('packhouse_head_block{network="main"}')).toBe(139);
  expect(await value('packhouse_finalized_block{network="main"}')).toBe(131);
  expect(await value('packhouse_head_lag_blocks{network="main"}')).toBe(140);
  expect(await value('packhouse_hole_blocks{network="main",kind="logs",reason="waiting"}')).toBe(32);
  expect(
    await value('packhouse_newest_bundle_timestamp_seconds{network="main",kind="logs"}'),
  ).toBeUndefined();

  await world.settle();
  await observer.update();
  expect(await value('packhouse_hole_blocks{network="main",kind="logs",reason="waiting"}')).toBeUndefined();
  expect(await value('packhouse_index_blocks{network="main",kind="logs"}')).toBeGreaterThanOrEqual(24);
  const newest = await value('packhouse_newest_bundle_timestamp_seconds{network="main",kind="logs"}');
  expect(Math.abs((newest ?? 0) - Date.now() / 1_000)).toBeLessThan(3_600);
  expect(await value('packhouse_head_lag_blocks{network="main"}')).toBeLessThanOrEqual(9);
  expect(await value('packhouse_queue_jobs{queue="ingest",state="waiting"}')).toBe(0);
  expect(await value('packhouse_staging_bytes')).toBeGreaterThan(0);
});

test('tells how many published bundles wait for their entry of the manifest, until it is signed', async () => {
  await world.want(100, 115);
  await world.noteHead();
  await world.settle();
  const series = 'packhouse_manifest_pending{network="main",kind="logs"}';
  await observer.update();
  expect(await value(series)).toBeUndefined();
  const main = world.database.network('main');
  const [row] = await main.bundles.list('logs', 0, 1);
  if (row === undefined) throw new Error('nothing is published');
  const { version: _, publishedAt: __, ...bundle } = row;
  await main.bundles.supersede(
    { ...bundle, objectKey: 'main/logs/100-107.v2.json.gz', sha256: 'cd'.repeat(32) },
    { replaces: row.sha256, reason: 'test' },
  );
  await observer.update();
  expect(await value(series)).toBe(1);
  const signer = createSigner(readSigningKey(makeSigningKey(), 'test'), 'test');
  await world.database.manifest.rotateKey(signer.publicKey);
  await main.manifest.sealPending('logs', signer, 10);
  await observer.update();
  expect(await value(series)).toBeUndefined();
});

test('tells since when the head has not moved', async () => {
  await world.noteHead();
  await observer.update();
  const series = 'packhouse_head_moved_timestamp_seconds{network="main"}';
  const first = await value(series);
  await world.noteHead();
  await observer.update();
  expect(await value(series)).toBe(first);
  expect(await value('packhouse_head_noted_timestamp_seconds{network="main"}')).toBeGreaterThan(
    first as number,
  );
  const head = await world.database.network('main').head.get();
  if (head === null) throw new Error('no head');
  await world.database.network('main').head.set({ number: 140, hash: head.hash, finalized: head.finalized });
  await observer.update();
  expect(await value(series)).toBeGreaterThan(first as number);
});

test('tells quarantined blocks by cause and open alarms by name, and takes them back when they are gone', async () => {
  await world.database.network('main').quarantine.put({
    firstBlock: 105,
    kinds: ['logs'],
    cause: 'PROOF_FAILED',
    message: 'x',
    upstream: null,
    payloadDigest: null,
  });
  await world.database.network('main').alarms.raise({ name: 'TEST', message: 'x' });
  await observer.update();
  expect(await value('packhouse_quarantined_blocks{network="main",cause="PROOF_FAILED"}')).toBe(1);
  expect(await value('packhouse_open_alarms{network="main",name="TEST"}')).toBe(1);
  await world.database.network('main').quarantine.settle({ firstBlock: 105, lastBlock: 105 }, ['logs']);
  await world.database.network('main').alarms.clear('TEST', 'operator');
  await observer.update();
  expect(await value('packhouse_quarantined_blocks{network="main",cause="PROOF_FAILED"}')).toBeUndefined();
  expect(await value('packhouse_open_alarms{network="main",name="TEST"}')).toBeUndefined();
});

test('says nothing before it has looked and after it has forgotten', async () => {
  const told = async (): Promise<string[]> =>
    (await world.context.metrics.render())
      .split('\n')
      .filter((line) => /^packhouse_(head|state|index|hole|queue_jobs|staging_bytes|superseded)/.test(line));
  expect(await told()).toEqual([]);
  await world.noteHead();
  await observer.update();
  expect((await told()).length).toBeGreaterThan(5);
  observer.forget();
  expect(await told()).toEqual([]);
});

test('a network that no ingester has any more is told of no longer, and again when it is back', async () => {
  const beat = (networks: string[]) =>
    world.database.workers.heartbeat({
      id: '00000001-0000-4000-8000-000000000000',
      role: 'ingester',
      host: 'here',
      pid: 1,
      networks,
      slots: 1,
      jobs: [],
      networksDigest: '',
      networksProblem: null,
    });
  const series = 'packhouse_head_block{network="main"}';
  await world.noteHead();
  await observer.update();
  expect(await value(series)).toBe(139);
  await beat([]);
  await observer.update();
  expect(await value(series)).toBeUndefined();
  expect(await value('packhouse_staging_bytes')).toBeGreaterThanOrEqual(0);
  await beat(['main']);
  await observer.update();
  expect(await value(series)).toBe(139);
});

test('says who leads, and raises an alarm while nothing moves although jobs are queued', async () => {
  let elapsed = 0;
  const clock = { ...world.context.clock, elapsed: () => elapsed };
  const moved = createObserver({ ...world, context: { ...world.context, clock } });
  await world.want(100, 131);
  await world.noteHead();
  await moved.update();
  expect(await value('packhouse_network_led{network="main"}')).toBe(0);
  const lock = await world.database.tryLock('lead:main');
  const payload = { network: 'main', firstBlock: 100, lastBlock: 107, kinds: ['logs' as const] };
  await world.queues.add('ingest', [{ id: 'main.100.107.31', priority: 1, payload }]);
  const { alarms } = world.database.network('main');
  const stood = 'packhouse_standstill_seconds{network="main"}';
  for (const [passed, seconds] of [
    [0, 0],
    [299_000, 299],
  ] as const) {
    elapsed += passed;
    await moved.update();
    expect(await value(stood)).toBe(seconds);
    expect(await alarms.list()).toEqual([]);
  }
  expect(await value('packhouse_network_led{network="main"}')).toBe(1);
  elapsed += 1_000;
  await moved.update();
  expect(await alarms.list()).toMatchObject([
    {
      name: 'STANDSTILL',
      message: expect.stringMatching(/^Nothing of main was staged or published for 5 minutes although/),
    },
  ]);
  // Another observer does not know yet whether anything moves.
  const next = createObserver({ ...world, context: { ...world.context, clock } });
  await next.update();
  expect(await alarms.list()).toHaveLength(1);
  await world.settle();
  await next.update();
  expect(await value(stood)).toBe(0);
  expect(await alarms.list()).toEqual([]);
  await lock?.release();
  await next.update();
  expect(await value('packhouse_network_led{network="main"}')).toBe(0);
});
