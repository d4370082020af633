import { createHash } from 'node:crypto';
import { buildSkipFilter, filterKey, skipFilterBytes } from '@packhouse/bundle';
import { runSql } from '@packhouse/local';
import { checkFilterSeal, publicKeyOf } from '@packhouse/manifest';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { addFilters } from '../publish/add-filters.js';
import { auditAndRepair, auditWorld, putRaw, rowAt } from '../testing/audited.js';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';

const FIRST = 1_000;
let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 16) }], { maxBlocks: 8 });
  await world.want(FIRST, FIRST + 15);
  await world.noteHead();
  await world.settle();
});
afterAll(() => world.close());

const found = async (): Promise<string[]> =>
  (await auditWorld(world, { objects: false })).findings.map(
    ({ kind, start, cause, harmless }) => `${kind} ${start} ${cause}${harmless ? ' harmless' : ''}`,
  );

test('a filter that is missing, damaged or too small is found, and written again without a new version', async () => {
  const rows = [];
  for (const kind of ['logs', 'transactions', 'traces'] as const) rows.push(await rowAt(world, kind, FIRST));
  const [logs, transactions, traces] = rows as [(typeof rows)[0], (typeof rows)[0], (typeof rows)[0]];
  const before = await world.objectStore.read(filterKey(logs.objectKey));
  await world.objectStore.delete(filterKey(logs.objectKey));
  await putRaw(world.objectStore, filterKey(transactions.objectKey), Buffer.from('other'));
  // As a faulty producer would leave it: the row and the object agree.
  const small = Buffer.from(buildSkipFilter([Buffer.from('nothing of it')]));
  await putRaw(world.objectStore, filterKey(traces.objectKey), small);
  const said = { bytes: small.length, sha256: createHash('sha256').update(small).digest('hex') };
  await world.database.network('main').bundleFilters.put(traces, said);
  expect((await found()).sort()).toEqual([
    `logs ${FIRST} filter`,
    `traces ${FIRST} filter`,
    `transactions ${FIRST} filter`,
  ]);
  const { outcome } = await auditAndRepair(world, { objects: false });
  expect(outcome).toMatchObject({ damaged: [], standing: 0 });
  expect(outcome.repairs.map(({ state, version }) => ({ state, version }))).toEqual(
    Array(3).fill({ state: 'repaired', version: 1 }),
  );
  expect(await world.objectStore.read(filterKey(logs.objectKey))).toEqual(before);
  expect(await found()).toEqual([]);
});

test('bundles of an older program get their filters once, each signed for its file', async () => {
  const { context, database, objectStore } = world;
  const { bundleFilters } = database.network('main');
  const everything = { start: 0, end: Number.MAX_SAFE_INTEGER };
  const published = await bundleFilters.of('logs', everything, 100);
  // As an older program leaves them.
  for (const { objectKey } of published) await objectStore.delete(filterKey(objectKey));
  await runSql(world.databaseUrl, 'DELETE FROM packhouse.bundle_filter WHERE kind = 3');
  expect(await found()).toEqual([]);
  const asked = { network: 'main', kind: 'logs' } as const;
  const left = published[0]?.objectKey as string;
  const bytes = await objectStore.read(left);
  await putRaw(objectStore, left, Buffer.from('damaged'));
  expect(await addFilters(world, asked, context.signal)).toBe(published.length - 1);
  await putRaw(objectStore, left, bytes);
  expect(await addFilters(world, asked, context.signal)).toBe(1);
  expect(await addFilters(world, asked, context.signal)).toBe(0);
  expect(await addFilters(world, { ...asked, kind: 'blocks' }, context.signal)).toBe(0);
  const keys = new Map(
    (await database.manifest.keys()).map(({ keyId, publicKey }) => [keyId, publicKeyOf(publicKey)]),
  );
  for (const { sha256, objectKey, filter } of await bundleFilters.of('logs', everything, 100)) {
    const object = await objectStore.read(filterKey(objectKey));
    const length = skipFilterBytes(object);
    expect(object.length).toBe(filter?.bytes);
    expect(checkFilterSeal(object, length, sha256, keys)).toBe(true);
    expect(checkFilterSeal(object, length, 'ab'.repeat(32), keys)).toBe(false);
  }
  expect(await found()).toEqual([]);
});
