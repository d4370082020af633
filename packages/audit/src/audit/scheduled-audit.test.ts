import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { auditAndRepair, auditWorld, putRaw, rowAt } from '../testing/audited.js';
import { alarmedFiles } from './damage.js';
import { runAudit } from './run-audit.js';
import { scheduledAudit } from './scheduled-audit.js';

const FIRST = 1_000;
const budget = { network: 'main', bytesPerSecond: 1e9 };
let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 20) }], { maxBlocks: 8 });
});
afterAll(() => world.close());

const scheduled = (share: number, seed: string): ReturnType<typeof scheduledAudit> =>
  scheduledAudit(world, { ...budget, share, seed }, world.context.signal);

test('of nothing there is nothing to note', async () => {
  expect(await scheduled(0.001, 'a')).toBeNull();
  expect(await world.database.network('main').audit.last()).toBeNull();
  await world.want(FIRST, FIRST + 19);
  await world.noteHead();
  await world.settle();
});

test('of few bundles one is audited, another one the next time, and the run is noted', async () => {
  const run = await scheduled(0.000001, 'a');
  expect(run).toMatchObject({ network: 'main', bundles: 1, findings: 0 });
  expect(await world.database.network('main').audit.last()).toEqual(run);
  const sizes = new Set<number>();
  for (let seed = 0; seed < 30; seed++) sizes.add((await scheduled(0.000001, String(seed)))?.bytesRead ?? 0);
  expect(sizes.size).toBeGreaterThan(3);
});

test('damage raises an alarm by name; it stays until the bundle is seen sound, and then ends by itself', async () => {
  const row = await rowAt(world, 'receipts', FIRST);
  const sound = await world.objectStore.read(row.objectKey);
  const damaged = Buffer.from(sound);
  damaged[40] = (damaged[40] as number) ^ 1;
  await putRaw(world.objectStore, row.objectKey, damaged);

  expect(await scheduled(1, 'a')).toMatchObject({ findings: 1 });
  const [alarm] = await world.database.network('main').alarms.list();
  expect(alarm).toMatchObject({
    name: 'BUNDLE_DAMAGED',
    message: `1 published bundle of main is damaged: receipts ${row.firstBlock}-${row.lastBlock} (sha256). Run \`packhouse audit --network main --repair\`.`,
    data: { bundles: [{ kind: 'receipts', from: row.firstBlock, causes: ['sha256'] }], more: 0 },
  });

  await putRaw(world.objectStore, row.objectKey, sound);
  const other = {
    networks: ['main'],
    kinds: ['logs'] as const,
    range: { firstBlock: 0, lastBlock: 1e6 },
    sample: 1,
    seed: '',
    objects: false,
  };
  await runAudit(world, { ...other }, {}, world.context.signal);
  expect((await alarmedFiles(world.database, 'main')).bundles).toHaveLength(1);

  await scheduled(0.000001, 'b');
  expect(await world.database.network('main').alarms.list()).toEqual([]);
  expect(await world.context.metrics.render()).toMatch(
    /packhouse_audit_findings_total\{network="main",cause="sha256"\} 1/,
  );
});

test('a repair ends the alarm; nodes that cannot serve leave everything, and the alarm, as it was', async () => {
  const row = await rowAt(world, 'logs', FIRST);
  await world.objectStore.delete(row.objectKey);
  const [node] = world.nodes;
  node?.faults.add({ do: 'nullReceipts' });
  const before = await auditAndRepair(world, { objects: false });
  expect(before.outcome).toMatchObject({ standing: 1, repairs: [{ state: 'failed', version: 1 }] });
  expect(before.outcome.repairs[0]?.message).toMatch(
    /^main logs 1000-.* cannot be rebuilt: .*Nothing was changed\.$/,
  );
  expect(await rowAt(world, 'logs', FIRST)).toEqual(row);
  expect((await alarmedFiles(world.database, 'main')).bundles).toMatchObject([
    { kind: 'logs', from: row.firstBlock },
  ]);

  node?.faults.clear();
  const after = await auditAndRepair(world, { objects: false });
  expect(after.outcome).toMatchObject({ standing: 0, repairs: [{ state: 'repaired', version: 2 }] });
  expect(await world.database.network('main').alarms.list()).toEqual([]);
  expect((await auditWorld(world)).findings).toEqual([]);
});

test('a budget makes a run wait, on the clock that it is given', async () => {
  let slept = 0;
  const clock = {
    now: () => Date.now(),
    elapsed: () => performance.now() + slept,
    sleep: async (ms: number) => {
      slept += ms;
    },
  };
  const context = { ...world.context, clock };
  const run = await scheduledAudit(
    { ...world, context },
    { network: 'main', share: 1, bytesPerSecond: 10_000, seed: 'a' },
    world.context.signal,
  );
  const bytes = run?.bytesRead ?? 0;
  // All but what the last bundles take, before which it waited.
  expect(slept).toBeGreaterThan((bytes / 10_000) * 500);
  expect(slept).toBeLessThan((bytes / 10_000) * 1_100);
});
