import { hash } from 'node:crypto';
import { objectKey } from '@packhouse/bundle';
import { KINDS, type Kind } from '@packhouse/chain';
import { createDatabase, type Database, type NewBundle } from '@packhouse/database';
import { freshDatabase, runSql } from '@packhouse/local';
import { createSigner, makeSigningKey, readSigningKey, toPublicKey } from '@packhouse/manifest';
import type { ObjectStore } from '@packhouse/object-store';
import { createLogStore, raiseRewound } from '@packhouse/pipeline';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { auditWorld, putRaw } from '../testing/audited.js';
import { adopt } from './adopt.js';
import type { Adoption } from './adopt-log.js';

const FIRST = 1_000;
let world: World;
beforeAll(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 40) }], { maxBlocks: 8 });
  await world.want(FIRST, FIRST + 39);
  await world.noteHead();
  await world.settle();
  const logs = createLogStore(world);
  // The first two entries of each log are a part of their own.
  const { manifest } = world.database.network('main');
  const { entries } = manifest;
  manifest.entries = (kind, after, limit) => entries(kind, after, after === -1 ? Math.min(2, limit) : limit);
  for (const kind of KINDS) await logs.store('main', kind);
  manifest.entries = entries;
});
afterAll(() => world.close());

/** The databases of one test, dropped with it. */
async function withDatabase(work: (database: Database, url: string) => Promise<void>): Promise<void> {
  const fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const { context } = world;
  const database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
  try {
    await work(database, fresh.url);
  } finally {
    await database.close();
    await fresh.drop();
  }
}

async function ownKeys() {
  const rows = await world.database.manifest.keys();
  return new Map(rows.map(({ keyId, publicKey }) => [keyId, toPublicKey(publicKey)]));
}

/** Adopts the network `main` into a database, from a store. */
async function adoptInto(
  database: Database,
  {
    objectStore = world.objectStore,
    dryRun = false,
    keys = undefined as Awaited<ReturnType<typeof ownKeys>> | undefined,
  } = {},
) {
  const said: { adoption: Adoption; kind: Kind | undefined; fault: string | null }[] = [];
  const parts = { ...world, database, objectStore, keys: keys ?? (await ownKeys()) };
  const summary = await adopt(
    parts,
    {
      network: 'main',
      dryRun,
      onEntry: (adoption, entry, fault) => said.push({ adoption, kind: entry?.kind, fault }),
    },
    world.context.signal,
  );
  return { summary, said };
}

/** Index and manifest of a database, but for what its own clock and counters say. */
async function tables(url: string): Promise<object> {
  const bundles = await runSql(
    url,
    `SELECT kind, first_block, last_block, byte_length, raw_length, proofs, format_version, published_at, sha256, first_hash,
       first_parent_hash, last_hash, object_key, fragments, version, not_proved
     FROM packhouse.bundle ORDER BY kind, first_block`,
  );
  const manifest = await runSql(
    url,
    'SELECT kind, sequence, hash, signature FROM packhouse.manifest ORDER BY kind, sequence',
  );
  const filters = await runSql(url, 'SELECT * FROM packhouse.bundle_filter ORDER BY kind, first_block');
  return { bundles, manifest, filters };
}

/** A store that lacks the parts of the logs behind the first. */
const early = (): ObjectStore => ({
  ...world.objectStore,
  async *list(prefix, options) {
    for await (const object of world.objectStore.list(prefix, options)) {
      if (!object.key.includes('/manifest/') || object.key.includes('/0000000000-')) yield object;
    }
  },
});

test('an empty database gets index and manifest back, entry by entry, and adopting again changes nothing', async () => {
  await withDatabase(async (database, url) => {
    const dry = await adoptInto(database, { dryRun: true });
    expect(dry.summary.counts).toMatchObject({ restored: 26, known: 0 });
    expect(await database.networks.list()).toEqual([]);

    const { summary } = await adoptInto(database);
    expect(summary.counts).toMatchObject({
      restored: 26,
      readopted: 0,
      missing: 0,
      damaged: 0,
      untrusted: 0,
    });
    expect(summary).toMatchObject({ broken: [], lost: { since: null } });
    const whole = await tables(url);
    expect(whole).toEqual(await tables(world.databaseUrl));
    expect((await auditWorld({ ...world, database })).findings).toEqual([]);

    const again = await adoptInto(database);
    expect(again.summary).toMatchObject({ counts: { known: 26, restored: 0 }, lost: null });
    expect(await tables(url)).toEqual(whole);
  });
});

test('a database that was set back gets the very entries back, and an alarm until then', async () => {
  await withDatabase(async (database, url) => {
    await adoptInto(database, { objectStore: early() });
    for (const kind of KINDS) await database.network('main').manifest.noteStored(kind, 1);
    expect(await database.network('main').manifest.tip('logs')).toMatchObject({ sequence: 1 });
    await raiseRewound({ ...world, database });
    expect(await database.network('main').alarms.list()).toMatchObject([
      { name: 'MANIFEST_REWOUND', message: expect.stringContaining('packhouse adopt --network main') },
    ]);
    const { summary } = await adoptInto(database);
    expect(summary.counts).toMatchObject({ known: 10, restored: 16, readopted: 0 });
    const kept = await Promise.all(
      KINDS.map((kind) => database.network('main').manifest.entries(kind, 0, 1)),
    );
    const times = kept.flat().map(({ publishedAt }) => publishedAt);
    expect(summary.lost?.since).toBe(times.sort().at(-1));
    expect(await tables(url)).toEqual(await tables(world.databaseUrl));
    expect(await database.network('main').alarms.list()).toEqual([]);
    await raiseRewound({ ...world, database });
    expect(await database.network('main').alarms.list()).toEqual([]);
  });
});

test('a log that went on after the loss keeps its entries; the lost files get new ones, and nothing is doubled', async () => {
  await withDatabase(async (database) => {
    await adoptInto(database, { objectStore: early() });
    // A packer published other blocks meanwhile.
    const main = database.network('main');
    const [model] = await main.bundles.list('logs', 0, 1);
    const file = Buffer.from('a file of its own');
    const at = { firstBlock: 2_000, lastBlock: 2_000 };
    const key = objectKey({ network: 'main', kind: 'logs', ...at });
    await putRaw(world.objectStore, key, file);
    const fragments = [{ ...at, byteLength: 9, rawLength: 9, crc32: 1 }];
    const other: NewBundle = { ...model!, ...at, objectKey: key, sha256: hash('sha256', file), fragments };
    await main.bundles.publish(other, { signer: world.signers.current(), clients: [] });

    const { summary } = await adoptInto(database);
    expect(summary.counts).toMatchObject({ restored: 13, readopted: 3, covered: 0 });
    expect(summary.broken).toEqual([]);
    const entries = await main.manifest.entries('logs', -1, 100);
    const lost = await world.database.network('main').manifest.entries('logs', -1, 100);
    expect(entries.map(({ from }) => from)).toEqual([1_000, 1_008, 2_000, 1_016, 1_024, 1_032]);
    expect(entries.slice(3).map(({ sha256 }) => sha256)).toEqual(lost.slice(2).map(({ sha256 }) => sha256));
    expect((await adoptInto(database)).summary.counts).toMatchObject({ restored: 0, readopted: 0 });
    await world.objectStore.delete(key);
  });
});

test('only what a trusted key signed is believed, and only files that are what it signed', async () => {
  await withDatabase(async (database) => {
    const stranger = createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');
    const strange = new Map([[stranger.keyId, toPublicKey(stranger.publicKey)]]);
    await expect(adoptInto(database, { keys: strange })).rejects.toMatchObject({ code: 'ADOPT_EMPTY' });

    const rows = await world.database.network('main').bundles.list('traces', 0, 2);
    const [gone, other] = [rows[0] as NewBundle, rows[1] as NewBundle];
    const kept = await Promise.all([gone, other].map(({ objectKey: key }) => world.objectStore.read(key)));
    await world.objectStore.delete(gone.objectKey);
    await putRaw(world.objectStore, other.objectKey, Buffer.from('another file'));
    const { summary, said } = await adoptInto(database);
    expect(summary.counts).toMatchObject({ restored: 24, missing: 1, damaged: 1 });
    expect(said.flatMap(({ fault }) => fault ?? [])).toEqual([
      expect.stringMatching(/^The object main\/traces\/1000-1007\.json\.gz is not in /),
      expect.stringMatching(/^The object main\/traces\/1008-1015\.json\.gz has SHA-256 .* names /),
    ]);
    // The log is whole; the blocks are holes until the files are there again.
    expect(summary.broken).toEqual([]);
    expect((await database.network('main').bundles.list('traces', 0, 9)).length).toBe(4);
    for (const [at, { objectKey: key }] of [gone, other].entries()) {
      await putRaw(world.objectStore, key, kept[at] as Buffer);
    }
    expect((await adoptInto(database)).summary.counts).toMatchObject({ known: 24, restored: 2 });
  });
});

test('a log with a gap is named by an audit, and filled from the store', async () => {
  await withDatabase(async (database, url) => {
    await adoptInto(database);
    await runSql(url, 'ALTER TABLE packhouse.manifest DISABLE TRIGGER manifest_is_append_only');
    await runSql(url, 'DELETE FROM packhouse.manifest WHERE kind = 3 AND sequence IN (1, 2)');
    const { findings } = await auditWorld({ ...world, database });
    expect(findings).toMatchObject([
      {
        cause: 'manifest',
        kind: 'logs',
        harmless: false,
        message: expect.stringMatching(
          /entries 1 to 2 are missing .*Run `packhouse adopt --network main`\.$/,
        ),
      },
    ]);
    expect((await adoptInto(database)).summary).toMatchObject({ counts: { restored: 2 }, broken: [] });
    expect((await auditWorld({ ...world, database })).findings).toEqual([]);
    expect(await tables(url)).toEqual(await tables(world.databaseUrl));
  });
});
