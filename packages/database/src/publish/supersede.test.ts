import { createSigner, makeSigningKey, readSigningKey } from '@packhouse/manifest';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { kindCode } from '../connection/codes.js';
import { type Connections, createConnections, statement } from '../connection/connections.js';
import { STORED_BUNDLE, type StoredBundle, toBundle } from '../tables/published/bundles.js';
import { makeBundle } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase, silentContext } from '../testing/open-database.js';
import type { Sealing } from './publish.js';

let open: OpenDatabase;
let sealing: Sealing;
let connections: Connections;
beforeAll(async () => {
  open = await openDatabase();
  connections = createConnections({
    connectionString: open.url,
    context: silentContext(),
    applicationName: 'test',
  });
  sealing = {
    signer: createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0'),
    clients: [],
  };
  await open.database.manifest.registerKey(sealing.signer.publicKey);
});
afterAll(async () => {
  await connections.close();
  await open.close();
});
beforeEach(async () => {
  await open.sql('TRUNCATE packhouse.bundle, packhouse.superseded_bundle');
});

const old = makeBundle('logs', 10, 19);
const version = (number: number, changed: object = {}) => ({
  ...old,
  objectKey: `main/logs/10-19.v${number}.json.gz`,
  byteLength: 500,
  sha256: `${number}0`.repeat(32),
  ...changed,
});

/** Superseded bundles of logs that touch a range, by start and version. */
async function superseded(start: number, end: number) {
  const rows = await connections.query<StoredBundle & { superseded_at: Date; reason: string }>(
    statement(
      'test/superseded',
      `SELECT ${STORED_BUNDLE}, superseded_at, reason FROM packhouse.superseded_bundle
       WHERE kind = $1 AND first_block <= $3 AND last_block >= $2 ORDER BY first_block, version`,
    ),
    [kindCode('logs'), start, end],
  );
  return rows.map(({ superseded_at: supersededAt, reason, ...row }) => ({
    ...toBundle('main', row),
    supersededAt,
    reason,
  }));
}

it('puts a new version in the place of a bundle, keeps the old row and says so in the manifest', async () => {
  const { bundles } = open.database;
  await open.main.bundles.publish(old, sealing);
  await open.main.bundles.publish(makeBundle('logs', 20, 29), sealing);
  const before = await open.main.bundles.totals('logs');
  const count = await bundles.supersededCount();
  const made = await open.main.bundles.supersede(version(2), {
    replaces: old.sha256,
    reason: 'a flipped byte',
    sealing,
  });
  const now = await open.main.bundles.covering('logs', 15);
  expect(now).toEqual({ ...version(2), network: 'main', version: 2, publishedAt: expect.any(Date) });
  expect(made).toEqual(now);
  expect(await superseded(19, 30)).toEqual([
    {
      ...old,
      network: 'main',
      version: 1,
      publishedAt: expect.any(Date),
      supersededAt: expect.any(Date),
      reason: 'a flipped byte',
    },
  ]);
  expect(await superseded(20, 30)).toEqual([]);
  expect(await bundles.supersededCount()).toBe(count + 1);
  expect(await open.main.bundles.totals('logs')).toMatchObject({
    bundles: before.bundles,
    blocks: before.blocks,
    bytes: before.bytes - old.byteLength + 500,
  });
  expect((await open.main.coverage('logs')).published).toEqual([{ firstBlock: 10, lastBlock: 29 }]);
  const tip = await open.main.manifest.tip('logs');
  const [entry] = await open.main.manifest.entries('logs', (tip?.sequence ?? 0) - 1, 1);
  expect(entry).toMatchObject({
    from: 10,
    to: 19,
    version: 2,
    supersedes: old.sha256,
    sha256: made.sha256,
  });
});

it('changes nothing when it is repeated, one entry included', async () => {
  await open.main.bundles.publish(old, sealing);
  const options = { replaces: old.sha256, reason: 'damaged', sealing };
  const first = await open.main.bundles.supersede(version(2), options);
  const tip = await open.main.manifest.tip('logs');
  const again = await Promise.all(
    [open.another(), open.another()].map((database) =>
      database.network('main').bundles.supersede(version(2), options),
    ),
  );
  for (const row of again) expect(row).toEqual(first);
  expect(await open.main.manifest.tip('logs')).toEqual(tip);
  expect(await superseded(0, 100)).toHaveLength(1);
});

it('replaces bytes with the same bytes under another key: the object was damaged, not its row', async () => {
  await open.main.bundles.publish(old, sealing);
  const healed = version(2, { sha256: old.sha256, byteLength: old.byteLength });
  await open.main.bundles.supersede(healed, { replaces: old.sha256, reason: 'damaged', sealing });
  const next = { ...healed, objectKey: 'main/logs/10-19.v3.json.gz' };
  expect(
    await open.main.bundles.supersede(next, { replaces: old.sha256, reason: 'again', sealing }),
  ).toMatchObject({
    version: 3,
  });
  expect((await superseded(10, 10)).map((row) => row.version)).toEqual([1, 2]);
  await expect(
    open.main.bundles.supersede(healed, { replaces: old.sha256, reason: 'late', sealing }),
  ).rejects.toMatchObject({ code: 'BUNDLE_CHANGED' });
});

it('lets one of many win that replace the same bundle differently', async () => {
  await open.main.bundles.publish(old, sealing);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, at) =>
      open
        .another()
        .network('main')
        .bundles.supersede(version(2, { sha256: `a${at}`.repeat(32) }), {
          replaces: old.sha256,
          reason: 'race',
          sealing,
        }),
    ),
  );
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused).toHaveLength(7);
  for (const { reason } of refused) expect(reason).toMatchObject({ code: 'BUNDLE_CHANGED' });
  expect(await superseded(0, 99)).toHaveLength(1);
});

it('refuses to replace what is not there, has another range or has changed, and leaves everything as it was', async () => {
  const options = { replaces: old.sha256, reason: 'x', sealing };
  await expect(open.main.bundles.supersede(version(2), options)).rejects.toMatchObject({
    code: 'BUNDLE_CHANGED',
  });
  await open.main.bundles.publish(old, sealing);
  const wrong = [
    [version(2), { ...options, replaces: 'ff'.repeat(32) }],
    [makeBundle('logs', 10, 18), options],
    [makeBundle('logs', 12, 19), options],
    [version(3), options],
    [old, options],
  ] as const;
  for (const [bundle, how] of wrong) {
    await expect(open.main.bundles.supersede(bundle, how)).rejects.toMatchObject({ code: 'BUNDLE_CHANGED' });
  }
  await expect(open.main.bundles.supersede({ ...old, fragments: [] }, options)).rejects.toMatchObject({
    code: 'BUNDLE_INVALID',
  });
  expect(await open.main.bundles.covering('logs', 10)).toMatchObject({ version: 1, sha256: old.sha256 });
  expect(await superseded(0, 99)).toEqual([]);
});
