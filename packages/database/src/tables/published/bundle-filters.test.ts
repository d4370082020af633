import { createVerifier, toPublicKey } from '@packhouse/manifest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeBundle } from '../../testing/make-run.js';
import { type OpenDatabase, openSignedDatabase, SEALING, SIGNER } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openSignedDatabase();
});
afterAll(() => open.close());

const filter = { bytes: 700, sha256: 'ab'.repeat(32) };
const everything = { firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER };

it('keeps the filter of a bundle with it, and names it in the entry, whoever appends that', async () => {
  const { bundles, manifest, bundleFilters } = open.main;
  await bundles.publish({ ...makeBundle('logs', 0, 9), filter }, SEALING);
  // After the remembered end of the log, in one statement.
  await bundles.publish({ ...makeBundle('logs', 10, 19), filter: { ...filter, bytes: 701 } }, SEALING);
  await bundles.publish(makeBundle('logs', 20, 29), SEALING);
  await bundles.publish({ ...makeBundle('logs', 30, 39), filter: { ...filter, bytes: 703 } });
  expect(await manifest.sealPending('logs', SIGNER, 10)).toBe(1);
  const entries = await manifest.entries('logs', -1, 10);
  expect(entries.map((entry) => entry.filter?.bytes)).toEqual([700, 701, undefined, 703]);
  const verifier = createVerifier(new Map([[SIGNER.keyId, toPublicKey(SIGNER.publicKey)]]));
  for (const entry of entries) verifier.push(entry);
  const files = await bundleFilters.of('logs', everything, 10);
  expect(files.map((file) => file.filter?.bytes ?? null)).toEqual([700, 701, null, 703]);
  expect(files[0]).toEqual({
    firstBlock: 0,
    lastBlock: 9,
    filter,
    sha256: makeBundle('logs', 0, 9).sha256,
    objectKey: makeBundle('logs', 0, 9).objectKey,
  });
  expect(
    (await bundleFilters.of('logs', { firstBlock: 15, lastBlock: 25 }, 10)).map(
      ({ firstBlock }) => firstBlock,
    ),
  ).toEqual([10, 20]);
});

it('takes the filter of an earlier bundle later, whose entry stays as it is', async () => {
  const { bundleFilters, manifest } = open.main;
  const before = await manifest.entries('logs', -1, 10);
  const bundle = await open.main.bundles.covering('logs', 20);
  if (bundle !== null) await bundleFilters.put(bundle, filter);
  expect((await bundleFilters.of('logs', { firstBlock: 20, lastBlock: 20 }, 1))[0]?.filter).toEqual(filter);
  expect(await manifest.entries('logs', -1, 10)).toEqual(before);
});

it('does not take the filter of a bundle for that of the one that supersedes it', async () => {
  const { bundles, bundleFilters } = open.main;
  const [old] = await bundles.list('logs', 0, 1);
  const next = makeBundle('logs', 0, 9, 'b');
  await bundles.supersede(
    { ...next, sha256: 'cd'.repeat(32), objectKey: next.objectKey.replace('.json', '.v2.json') },
    { replaces: old?.sha256 as string, reason: 'test' },
  );
  expect((await bundleFilters.of('logs', { firstBlock: 0, lastBlock: 0 }, 1))[0]?.filter).toBeNull();
});
