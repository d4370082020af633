import { KINDS } from '@packhouse/chain';
import {
  createSigner,
  entryLine,
  makeSigningKey,
  NO_ENTRY,
  readSigningKey,
  type Signer,
} from '@packhouse/manifest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Sealing } from '../../publish/publish.js';
import { makeBundle } from '../../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

const newSigner = (): Signer => createSigner(readSigningKey(makeSigningKey(), 'test'), 'packhouse/0.0.0');

let open: OpenDatabase;
let sealing: Sealing;
beforeAll(async () => {
  open = await openDatabase();
  sealing = { signer: newSigner(), clients: ['reth/v1.1.0'] };
  await open.database.manifest.registerKey(sealing.signer.publicKey);
});
afterAll(() => open.close());

let taken = 0;
/** A range that no other test of this file uses. */
function fresh(): { firstBlock: number; lastBlock: number } {
  taken += 100;
  return { firstBlock: taken, lastBlock: taken + 9 };
}

it('appends an entry with each bundle that is published, and gives the very line that was signed', async () => {
  const before = await open.main.manifest.tip('blocks');
  const { firstBlock: start, lastBlock: end } = fresh();
  const clients = ['reth/v1.1.0', 'Geth/v1.13.5', 'reth/v1.1.0'];
  await open.main.bundles.publish(makeBundle('blocks', start, end), { ...sealing, clients });
  const [entry] = await open.main.manifest.entries('blocks', before?.sequence ?? -1, 10);
  const bundle = await open.main.bundles.covering('blocks', start);
  expect(entry).toMatchObject({
    network: 'main',
    chainId: 1,
    kind: 'blocks',
    from: start,
    to: end,
    version: 1,
    supersedes: null,
    sequence: (before?.sequence ?? -1) + 1,
    previous: before?.hash ?? NO_ENTRY,
    sha256: bundle?.sha256,
    bytes: bundle?.byteLength,
    rawBytes: bundle?.rawLength,
    firstHash: bundle?.firstHash,
    firstParentHash: bundle?.firstParentHash,
    lastHash: bundle?.lastHash,
    proofs: bundle?.proofs,
    clients: ['Geth/v1.13.5', 'reth/v1.1.0'],
    producer: 'packhouse/0.0.0',
    publishedAt: bundle?.publishedAt.toISOString(),
    keyId: sealing.signer.keyId,
  });
  if (entry === undefined) return;
  expect(entryLine(sealing.signer.seal(entry))).toBe(entryLine(entry));
  expect(await open.main.manifest.tip('blocks')).toEqual({ sequence: entry.sequence, hash: entry.hash });
});

it('says in row, entry, range and list what is not proved, and nothing of other bundles', async () => {
  const notProved = [{ proof: 'receiptsRoot', because: 'the receipts of this chain are trusted' }] as const;
  const [whole, partly, late] = [fresh(), fresh(), fresh()];
  const publish = (
    at: { firstBlock: number; lastBlock: number },
    gaps: object,
    seal?: Sealing,
  ): Promise<void> =>
    open.main.bundles.publish({ ...makeBundle('traces', at.firstBlock, at.lastBlock), ...gaps }, seal);
  await publish(whole, {}, sealing);
  await publish(partly, { notProved }, sealing);
  await publish(late, { notProved });
  await open.main.manifest.sealPending('traces', sealing.signer, 10);
  expect((await open.main.bundles.covering('traces', whole.firstBlock))?.notProved).toBeUndefined();
  expect((await open.main.bundles.covering('traces', partly.firstBlock))?.notProved).toEqual(notProved);
  const entries = await open.main.manifest.entries('traces', -1, 10);
  expect(entries.map((entry) => entry.notProved)).toEqual([undefined, notProved, notProved]);
  for (const entry of entries) expect(entryLine(sealing.signer.seal(entry))).toBe(entryLine(entry));
  const all = { firstBlock: whole.firstBlock, lastBlock: late.lastBlock };
  expect(await open.main.bundles.notProved('traces', all)).toEqual([
    { ...partly, notProved },
    { ...late, notProved },
  ]);
  expect(await open.main.bundles.notProved('traces', whole)).toEqual([]);
  expect(await open.main.bundles.reasonsNotProved()).toEqual(notProved);
});

it('counts without a gap and chains without a fork though ten publish at once', async () => {
  const processes = Array.from({ length: 10 }, () => open.another());
  await Promise.all(
    processes.flatMap((database, index) =>
      [0, 1, 2].flatMap((round) =>
        (['receipts', 'logs'] as const).map((kind) => {
          const start = (index * 3 + round) * 10;
          return database.network('main').bundles.publish(makeBundle(kind, start, start + 9), sealing);
        }),
      ),
    ),
  );
  for (const kind of ['receipts', 'logs'] as const) {
    const entries = await open.main.manifest.entries(kind, -1, 1_000);
    expect(entries.map((entry) => entry.sequence)).toEqual(Array.from({ length: 30 }, (_, at) => at));
    expect(entries.map((entry) => entry.previous)).toEqual([
      NO_ENTRY,
      ...entries.slice(0, -1).map((entry) => entry.hash),
    ]);
    for (const entry of entries) expect(sealing.signer.seal(entry)).toEqual(entry);
    expect(await open.main.manifest.entries(kind, 12, 5)).toEqual(entries.slice(13, 18));
  }
});

it('goes on behind whatever was appended meanwhile, with the times of the database', async () => {
  const [one, two] = [open.another(), open.another()];
  const before = (await open.main.manifest.tip('blocks'))?.sequence ?? -1;
  for (let round = 0; round < 5; round += 1) {
    // The first process remembers the end of the log; the second appends to it.
    for (const database of [one, one, two]) {
      const { firstBlock: start, lastBlock: end } = fresh();
      await database.network('main').bundles.publish(makeBundle('blocks', start, end), sealing);
    }
  }
  const entries = await open.main.manifest.entries('blocks', before, 100);
  expect(entries).toHaveLength(15);
  for (const [i, entry] of entries.entries()) {
    expect(entry.sequence).toBe(before + 1 + i);
    if (i > 0) expect(entry.previous).toBe(entries[i - 1]?.hash);
    expect(sealing.signer.seal(entry)).toEqual(entry);
    const bundle = await open.main.bundles.covering('blocks', entry.from);
    expect(bundle?.publishedAt.toISOString()).toBe(entry.publishedAt);
  }
  const [clock] = await open.sql<{ now: Date }>('SELECT clock_timestamp() AS now');
  const last = new Date(entries.at(-1)?.publishedAt as string);
  expect(Math.abs((clock?.now.getTime() as number) - last.getTime())).toBeLessThan(60_000);
});

it('leaves no entry and no bundle of a publication that fails', async () => {
  const { firstBlock: start, lastBlock: end } = fresh();
  await open.main.bundles.publish(makeBundle('traces', start, end), sealing);
  const tip = await open.main.manifest.tip('traces');
  await expect(
    open.main.bundles.publish(makeBundle('traces', start + 5, end + 5), sealing),
  ).rejects.toMatchObject({
    code: 'BUNDLE_OVERLAP',
  });
  const stranger = { ...sealing, signer: newSigner() };
  await expect(
    open.main.bundles.publish(makeBundle('traces', end + 1, end + 5), stranger),
  ).rejects.toMatchObject({
    code: 'SIGNING_KEY_CHANGED',
  });
  const broken: Signer = {
    ...sealing.signer,
    seal: () => {
      throw new Error('killed here');
    },
  };
  await expect(
    open.main.bundles.publish(makeBundle('traces', end + 1, end + 5), { ...sealing, signer: broken }),
  ).rejects.toThrow('killed here');
  expect(await open.main.manifest.tip('traces')).toEqual(tip);
  expect(await open.main.bundles.covering('traces', end + 1)).toBeNull();
});

it('appends later what was published without an entry, old versions and new ones, once', async () => {
  const ranges = [fresh(), fresh(), fresh()];
  for (const { firstBlock: start, lastBlock: end } of ranges)
    await open.main.bundles.publish(makeBundle('transactions', start, end));
  const [{ firstBlock: start, lastBlock: end }] = ranges as [{ firstBlock: number; lastBlock: number }];
  const old = makeBundle('transactions', start, end);
  await open.main.bundles.supersede(
    { ...old, sha256: '77'.repeat(32), objectKey: `main/transactions/${start}-${end}.v2.json.gz` },
    { replaces: old.sha256, reason: 'test' },
  );
  expect(await open.main.manifest.tip('transactions')).toBeNull();
  const others = [open.another(), open.another(), open.another()];
  const appended = await Promise.all(
    others.map(async (database) => {
      let count = 0;
      for (let more = 1; more > 0; count += more) {
        more = await database.network('main').manifest.sealPending('transactions', sealing.signer, 2);
      }
      return count;
    }),
  );
  expect(appended.reduce((sum, count) => sum + count, 0)).toBe(4);
  const entries = await open.main.manifest.entries('transactions', -1, 10);
  expect(entries.map((entry) => [entry.sequence, entry.from, entry.version, entry.supersedes])).toEqual([
    [0, start, 1, null],
    [1, start, 2, old.sha256],
    [2, ranges[1]?.firstBlock, 1, null],
    [3, ranges[2]?.firstBlock, 1, null],
  ]);
  for (const entry of entries) expect(sealing.signer.seal(entry)).toEqual(entry);
});

it('never changes an entry', async () => {
  for (const statement of [
    'UPDATE packhouse.manifest SET sequence = 7',
    'DELETE FROM packhouse.manifest',
    'TRUNCATE packhouse.manifest',
  ]) {
    await expect(open.sql(statement)).rejects.toThrow('never changes');
  }
});

it('has one current key, whoever registers, and keeps the old ones when it is rotated', async () => {
  const other = await openDatabase();
  try {
    const signers = Array.from({ length: 6 }, newSigner);
    const registered = await Promise.all(
      signers.map((signer) => other.another().manifest.registerKey(signer.publicKey)),
    );
    expect(new Set(registered.map((row) => row.keyId)).size).toBe(1);
    const first = signers.find((signer) => signer.keyId === registered[0]?.keyId) as Signer;
    const second = signers.find((signer) => signer !== first) as Signer;
    const { manifest } = other.database;
    await other.database
      .network('main')
      .bundles.publish(makeBundle('blocks', 0, 9), { signer: first, clients: [] });
    for (let repeated = 0; repeated < 2; repeated += 1) {
      expect(await manifest.rotateKey(second.publicKey)).toMatchObject({
        keyId: second.keyId,
        retiredAt: null,
      });
    }
    await expect(
      other.database
        .network('main')
        .bundles.publish(makeBundle('blocks', 10, 19), { signer: first, clients: [] }),
    ).rejects.toMatchObject({
      code: 'SIGNING_KEY_CHANGED',
      message: expect.stringContaining(second.keyId),
    });
    await other.database
      .network('main')
      .bundles.publish(makeBundle('blocks', 10, 19), { signer: second, clients: [] });
    expect(await manifest.keys()).toEqual([
      {
        keyId: first.keyId,
        publicKey: first.publicKey,
        createdAt: expect.any(Date),
        retiredAt: expect.any(Date),
      },
      { keyId: second.keyId, publicKey: second.publicKey, createdAt: expect.any(Date), retiredAt: null },
    ]);
    const entries = await other.database.network('main').manifest.entries('blocks', -1, 10);
    expect(entries.map((entry) => entry.keyId)).toEqual([first.keyId, second.keyId]);
    await expect(manifest.rotateKey(first.publicKey)).rejects.toMatchObject({ code: 'SIGNING_KEY_CHANGED' });
  } finally {
    await other.close();
  }
});

it('needs some 406 bytes an entry without a filter, indexes included', async () => {
  const other = await openDatabase();
  try {
    const { manifest } = other.database;
    const signer = newSigner();
    await manifest.registerKey(signer.publicKey);
    await other.database
      .network('main')
      .bundles.publish(makeBundle('blocks', 0, 9), { signer, clients: ['reth/v1.1.0'] });
    const count = 50_000;
    await other.sql(
      `INSERT INTO packhouse.manifest (first_block, last_block, byte_length, raw_length, published_at,
         sequence, proofs, origin_id, network_id, kind, version, key_id, sha256, first_hash, first_parent_hash, last_hash,
         hash, signature, supersedes)
       SELECT first_block + n, last_block + n, byte_length, raw_length, published_at, n, proofs, origin_id, network_id,
         kind, version, key_id, sha256, first_hash, first_parent_hash, last_hash, hash, signature, supersedes
       FROM packhouse.manifest, generate_series(1, $1) AS n`,
      [count],
    );
    const [size] = await other.sql<{ all: string }>(
      `SELECT pg_total_relation_size('packhouse.manifest') AS all`,
    );
    expect(Number(size?.all) / count).toBeLessThan(410);
  } finally {
    await other.close();
  }
});

it('knows nothing of networks and kinds that were never published', async () => {
  expect(await open.database.network('nowhere').manifest.entries('blocks', -1, 10)).toEqual([]);
  expect(await open.database.network('nowhere').manifest.tip('blocks')).toBeNull();
  expect(await open.database.network('nowhere').manifest.sealPending('blocks', sealing.signer, 10)).toBe(0);
  for (const kind of KINDS) expect(await open.main.manifest.sealPending(kind, sealing.signer, 10)).toBe(0);
});
