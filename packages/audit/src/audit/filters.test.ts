import { hash } from 'node:crypto';
import { filterBytes, filterKey, filterOfBundle } from '@packhouse/bundle';
import { checkFilterSeal, toPublicKey } from '@packhouse/manifest';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { auditAndRepair, auditWorld, putRaw, rowAt } from '../testing/audited.js';

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
    ({ kind, from, cause, harmless }) => `${kind} ${from} ${cause}${harmless ? ' harmless' : ''}`,
  );

test('a filter that is missing, damaged or too small is found, and written again without a new version', async () => {
  const rows = [];
  for (const kind of ['logs', 'transactions', 'traces'] as const) rows.push(await rowAt(world, kind, FIRST));
  const [logs, transactions, traces] = rows as [(typeof rows)[0], (typeof rows)[0], (typeof rows)[0]];
  const before = await world.objectStore.read(filterKey(logs.objectKey));
  await world.objectStore.delete(filterKey(logs.objectKey));
  await putRaw(world.objectStore, filterKey(transactions.objectKey), Buffer.from('other'));
  // As a faulty producer would leave it: the row and the object agree.
  const bytes = await world.objectStore.read(traces.objectKey);
  const { kind, fragments } = traces;
  const small = await filterOfBundle(
    { kind, fragments, bytes },
    { items: fragments.map(() => Buffer.alloc(0)) },
  );
  await putRaw(world.objectStore, filterKey(traces.objectKey), small);
  const said = { bytes: small.length, sha256: hash('sha256', small) };
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
  // The entry names the small one: another is signed by itself, for its file.
  const keys = new Map(
    (await world.database.manifest.keys()).map(({ keyId, publicKey }) => [keyId, toPublicKey(publicKey)]),
  );
  const object = await world.objectStore.read(filterKey(traces.objectKey));
  const length = filterBytes(object);
  expect(checkFilterSeal(object, length, traces.sha256, keys)).toBe(true);
  expect(checkFilterSeal(object, length, 'ab'.repeat(32), keys)).toBe(false);
  expect(await found()).toEqual([]);

  // Bytes that are no filter at all, though the row names them.
  const nonsense = Buffer.from('nonsense');
  await putRaw(world.objectStore, filterKey(logs.objectKey), nonsense);
  const named = { bytes: nonsense.length, sha256: hash('sha256', nonsense) };
  await world.database.network('main').bundleFilters.put(logs, named);
  expect(await found()).toEqual([`logs ${FIRST} filter`]);
});
