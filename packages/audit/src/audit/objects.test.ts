import type { Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { auditAndRepair, auditWorld, putRaw, rowAt } from '../testing/audited.js';
import { deleteOrphans } from './orphans.js';

const FIRST = 1_000;
let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 20) }], { maxBlocks: 8 });
  await world.want(FIRST, FIRST + 19);
  await world.noteHead();
  await world.settle();
});
afterAll(() => world.close());

/** The world some time later: objects have an age. */
function later(ms: number): World {
  const clock = { ...world.context.clock, now: () => Date.now() + ms };
  return { ...world, context: { ...world.context, clock } };
}

const orphan = { network: 'main', kind: 'logs', firstBlock: 990, key: 'main/logs/990-999.json.gz' } as const;
const body = Buffer.from('left by somebody who was killed');

test('an object that no row names is told with its size once it is not young any more, and is no damage', async () => {
  await putRaw(world.objectStore, orphan.key, body);
  await putRaw(world.objectStore, 'main/logs/990-999.filter', body);
  await putRaw(world.objectStore, 'main/logs/notes.txt', body);
  await putRaw(world.objectStore, 'main/other/1-2.json.gz', body);
  expect((await auditWorld(world)).findings).toEqual([]);
  const { findings, summary } = await auditWorld(later(900_000));
  expect(Object.fromEntries(findings.map((finding) => [finding.key, finding]))).toMatchObject({
    [orphan.key]: {
      cause: 'orphan',
      size: body.length,
      kind: 'logs',
      from: 990,
      to: 999,
      harmless: true,
    },
    'main/logs/990-999.filter': { cause: 'orphan', kind: 'logs', from: 990, to: 999, harmless: true },
    'main/logs/notes.txt': { cause: 'name', kind: null, harmless: true },
    'main/other/1-2.json.gz': { cause: 'name', harmless: true },
  });
  expect(findings.find(({ key }) => key === orphan.key)?.message).toMatch(
    /^main logs 990-999: no index row names .* of 31 bytes/,
  );
  expect(summary).toMatchObject({ findings: 0, harmless: 4, causes: { orphan: 2, name: 2 } });
});

test('orphans outside the range or of another kind are left out', async () => {
  const range = { firstBlock: FIRST, lastBlock: FIRST + 5 };
  expect((await auditWorld(later(900_000), { range })).findings).toEqual([]);
  expect(
    (await auditWorld(later(900_000), { kinds: ['blocks'], range: { firstBlock: 0, lastBlock: FIRST } }))
      .findings,
  ).toEqual([]);
});

test('superseded objects are known and no orphans; one that is gone is not missed', async () => {
  const row = await rowAt(world, 'traces', FIRST);
  await world.objectStore.delete(row.objectKey);
  await auditAndRepair(world);
  expect((await rowAt(world, 'traces', FIRST)).version).toBe(2);
  await putRaw(world.objectStore, row.objectKey, body);
  const { findings } = await auditWorld(later(900_000));
  expect(findings.filter(({ kind }) => kind === 'traces')).toEqual([]);
  expect((await auditWorld(world)).findings).toEqual([]);
});

test('an orphan is deleted only when it is older than an hour, and only while no packer is at work', async () => {
  const { context, database, objectStore, signal } = { ...world, signal: world.context.signal };
  const remove = (at: World): Promise<string[]> =>
    deleteOrphans({ context: at.context, database, objectStore }, [orphan], signal);
  expect(await remove(later(1_800_000))).toEqual([]);
  const busy = await database.tryLock('pack:main:logs');
  let gone = false;
  const removing = remove(later(4_000_000)).then((keys) => {
    gone = true;
    return keys;
  });
  await context.clock.sleep(1_000);
  expect(gone).toBe(false);
  await busy?.release();
  expect(await removing).toEqual([orphan.key]);
  expect(await objectStore.head(orphan.key)).toBeNull();
  expect(await remove(later(4_000_000))).toEqual([]);
});

test('an object that was published since it was seen is not deleted', async () => {
  const row = await rowAt(world, 'logs', FIRST);
  const at = later(4_000_000);
  const named = [{ network: 'main', kind: 'logs', firstBlock: row.firstBlock, key: row.objectKey } as const];
  expect(await deleteOrphans({ ...world, context: at.context }, named, world.context.signal)).toEqual([]);
  expect(await world.objectStore.head(row.objectKey)).not.toBeNull();
});

test('a sample is the same for the same seed, and everything is in some sample', async () => {
  const chosen = async (seed: string, sample: number): Promise<string[]> => {
    const names: string[] = [];
    await auditWorld(
      world,
      { seed, sample, objects: false },
      { onChecked: ({ kind, firstBlock }) => names.push(`${kind} ${firstBlock}`) },
    );
    return names.sort();
  };
  const all = await chosen('any', 1);
  const once = await chosen('2026-01-01', 0.4);
  expect(await chosen('2026-01-01', 0.4)).toEqual(once);
  expect(once.length).toBeLessThan(all.length);
  const seen = new Set<string>();
  for (let day = 0; seen.size < all.length && day < 200; day++) {
    for (const name of await chosen(String(day), 0.4)) seen.add(name);
  }
  expect([...seen].sort()).toEqual(all);
});

test('one kind alone is checked against the headers in blocks, of which only what is needed is read', async () => {
  const totals = await world.database.network('main').bundles.totals('receipts');
  const { summary, findings } = await auditWorld(world, { kinds: ['receipts'], objects: false });
  expect(findings).toEqual([]);
  expect(summary.unchecked).toEqual([]);
  expect(summary.bundles).toBe(totals.bundles);
  const blocks = await world.database.network('main').bundles.totals('blocks');
  expect(summary.bytesRead).toBeGreaterThan(totals.bytes);
  expect(summary.bytesRead).toBeLessThan(totals.bytes + blocks.bytes);
});

test('an audit reads nothing it was not asked for', async () => {
  const read: string[] = [];
  const objectStore: ObjectStore = {
    ...world.objectStore,
    read: (key, options) => {
      read.push(key);
      return world.objectStore.read(key, options);
    },
  };
  const row = await rowAt(world, 'blocks', FIRST + 9);
  await auditWorld(
    { ...world, objectStore },
    { kinds: ['blocks'], range: { firstBlock: FIRST + 9, lastBlock: FIRST + 9 }, objects: false },
  );
  expect(read).toEqual([row.objectKey]);
});

test('nothing published in the range is said in one sentence', async () => {
  const empty = auditWorld(world, { range: { firstBlock: 5, lastBlock: 9 } });
  await expect(empty).rejects.toMatchObject({
    code: 'AUDIT_EMPTY',
    message: expect.stringContaining('blocks 5 to 9'),
  });
  const nowhere = auditWorld({ ...world, database: world.database as Database }, { networks: ['nowhere'] });
  await expect(nowhere).rejects.toMatchObject({ code: 'AUDIT_EMPTY' });
});
