import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { giantTraceBlock } from '@packhouse/replay-node';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { auditWorld, getRecords, putRaw, republish, rowAt } from '../testing/audited.js';
import { isGiant } from './open-bundle.js';

const BLOCK = 1;
let world: World;
beforeAll(async () => {
  world = await makeWorld(
    inject('postgresUrl'),
    [{ blocks: giantTraceBlock({ megabytes: 72 }) }],
    {},
    60_000,
  );
  await world.want(BLOCK, BLOCK);
  await world.noteHead();
  await world.settle();
});
afterAll(() => world.close());

test('traces that are too large to be held are read as a stream, proved one by one, and named where they are wrong', async () => {
  const row = await rowAt(world, 'traces', BLOCK);
  expect(row.rawLength).toBeGreaterThan(67_108_864);
  expect(isGiant(row)).toBe(true);
  const { findings, summary } = await auditWorld(world);
  expect(findings).toEqual([]);
  expect(summary).toMatchObject({ blocks: 5, unchecked: [] });

  const bytes = await world.objectStore.read(row.objectKey);
  const damaged = Buffer.from(bytes);
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] as number) ^ 4;
  await putRaw(world.objectStore, row.objectKey, damaged);
  const hurt = await auditWorld(world);
  expect(hurt.findings).toMatchObject([{ kind: 'traces', key: row.objectKey, expected: row.sha256 }]);
  expect(hurt.findings[0]?.cause).toMatch(/^(gzip|sha256)$/);
  await putRaw(world.objectStore, row.objectKey, damaged.subarray(0, -1_000));
  expect((await auditWorld(world)).findings).toHaveLength(1);
  await putRaw(world.objectStore, row.objectKey, bytes);

  const [record] = (await getRecords(world.objectStore, row)) as [string];
  // Its last trace is left out: the root has the number of traces.
  const short = `${record.slice(0, record.lastIndexOf(',{"action"'))}]`;
  const { undo } = await republish(world, row, [short]);
  expect((await auditWorld(world)).findings).toMatchObject([
    { kind: 'traces', cause: 'traces', block: BLOCK },
  ]);
  await undo();
});
