import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { publishedTimes } from '@packhouse/audit';
import {
  distinctDigests,
  filterFits,
  filterItem,
  filterKey,
  hasFilter,
  mayHold,
  readFilter,
  readTimes,
  toDigests,
} from '@packhouse/bundle';
import { KINDS } from '@packhouse/chain';
import { runSql } from '@packhouse/local';
import { createVerifier, type SealedEntry, toPublicKey } from '@packhouse/manifest';
import { generateChain } from '@packhouse/replay-node';
import { afterEach, expect, inject, test } from 'vitest';
import { makeWorld, type World } from '../testing/world.js';

let world: World;
afterEach(() => world.close());

async function getWorld(length: number): Promise<World> {
  const blocks = [...(await generateChain({ length, txsPerBlock: 3, startNumber: 1_000 }))];
  world = await makeWorld(inject('postgresUrl'), [{ blocks }], { maxBlocks: 8 });
  await world.want(1_000, 1_000 + length - 1);
  await world.noteHead();
  return world;
}

/** All entries, checked with the public keys only. */
async function checkedEntries({ database }: World): Promise<SealedEntry[]> {
  const keys = await database.manifest.keys();
  const verifier = createVerifier(new Map(keys.map((key) => [key.keyId, toPublicKey(key.publicKey)])));
  const all: SealedEntry[] = [];
  for (const kind of KINDS) all.push(...(await database.network('main').manifest.entries(kind, -1, 1_000)));
  for (const entry of all) verifier.push(entry);
  return all;
}

test('every bundle has an entry that holds what its file and its row hold, and every entry a bundle', async () => {
  const { database, objectStore, settle } = await getWorld(40);
  await settle();
  const entries = await checkedEntries(world);
  const rows = (
    await Promise.all(KINDS.map((kind) => database.network('main').bundles.list(kind, 0, 1_000)))
  ).flat();
  expect(rows.length).toBeGreaterThan(KINDS.length);
  const root = new URL('../../../../package.json', import.meta.url);
  const { version } = JSON.parse(await readFile(root, 'utf8')) as { version: string };
  expect(entries.map(({ kind, from, to }) => ({ kind, from, to }))).toEqual(
    rows.map(({ kind, firstBlock, lastBlock }) => ({ kind, from: firstBlock, to: lastBlock })),
  );
  for (const [i, entry] of entries.entries()) {
    const row = rows[i];
    const file = await objectStore.read(row?.objectKey as string);
    expect(hash('sha256', file)).toBe(entry.sha256);
    // Every bundle of these kinds has a filter, which contains what is in its file.
    const hasOne = entry.kind !== 'blocks';
    expect(entry.filter !== undefined).toBe(hasOne);
    if (hasOne && row !== undefined) {
      const filter = await objectStore.read(filterKey(row.objectKey));
      expect(hash('sha256', filter)).toBe(entry.filter?.sha256);
      expect(filter.length).toBe(entry.filter?.bytes);
      expect(await filterFits(filter, { kind: row.kind, fragments: row.fragments, bytes: file })).toBe(true);
      const { parts, times: own } = readFilter(filter, row.firstBlock);
      const unknown = distinctDigests([toDigests([filterItem(`0x${'77'.repeat(20)}`)])]);
      expect(parts.every(({ items }) => mayHold(items, unknown))).toBe(!hasFilter(entry.kind));
      const times = await publishedTimes({ database, objectStore }, row, new AbortController().signal);
      expect(times).toHaveLength(row.lastBlock - row.firstBlock + 1);
      expect(readTimes(own, times?.length ?? 0)).toEqual(times);
    }
    expect(entry).toMatchObject({
      bytes: file.length,
      rawBytes: row?.rawLength,
      firstHash: row?.firstHash,
      lastHash: row?.lastHash,
      proofs: row?.proofs,
      producer: `packhouse/${version}`,
    });
  }
});

test('filters are the same of fragments that were staged without their items', async () => {
  const { database, objectStore, settle, packAll, databaseUrl } = await getWorld(16);
  await settle();
  const filters = async () => {
    const kinds = KINDS.filter(hasFilter);
    const rows = await Promise.all(kinds.map((kind) => database.network('main').bundles.list(kind, 0, 100)));
    const keys = rows.flat().map(({ objectKey }) => filterKey(objectKey));
    return new Map(await Promise.all(keys.map(async (key) => [key, await objectStore.read(key)] as const)));
  };
  const before = await filters();
  expect(before.size).toBeGreaterThan(2);
  const known = 'SELECT kind FROM packhouse.fragment WHERE items IS NOT NULL GROUP BY kind ORDER BY kind';
  expect(await runSql(databaseUrl, known)).toEqual([{ kind: 1 }, { kind: 3 }, { kind: 4 }]);
  for (const key of before.keys()) await objectStore.delete(key);
  await runSql(databaseUrl, 'DELETE FROM packhouse.bundle');
  await runSql(
    databaseUrl,
    'UPDATE packhouse.fragment SET items = NULL WHERE first_block % 2 = 0 OR first_block > 1007',
  );
  await packAll();
  expect(await filters()).toEqual(before);
});

test('a process that ends between the object and the row leaves no entry; the next one publishes it once', async () => {
  const { database, objectStore, settle } = await getWorld(16);
  const { bundles } = database.network('main');
  const { publish } = bundles;
  const put: string[] = [];
  bundles.publish = async (bundle) => {
    put.push(bundle.objectKey);
    throw new Error('killed here');
  };
  await expect(settle()).rejects.toThrow('killed here');
  // Some are put side by side.
  expect(put.length).toBeGreaterThan(0);
  expect((await objectStore.read(put[0] as string)).length).toBeGreaterThan(0);
  expect(await checkedEntries(world)).toEqual([]);
  bundles.publish = publish;
  await settle();
  const entries = await checkedEntries(world);
  expect(entries.filter((entry) => entry.kind === 'blocks').map((entry) => entry.from)).toEqual([
    1_000, 1_008,
  ]);
});
