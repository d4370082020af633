import { KINDS, type Kind } from '@packhouse/chain';
import type { BundleRow } from '@packhouse/database';
import { type ObjectStore, openObjectStore } from '@packhouse/object-store';
import { chainFrom } from '@packhouse/pipeline/testing/chains.js';
import { makeWorld, type World } from '@packhouse/pipeline/testing/world.js';
import { startScriptedS3 } from '@packhouse/scripted-s3';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { auditAndRepair, auditWorld, getSuperseded, putRaw } from '../testing/audited.js';

const FIRST = 1_000;
const LENGTH = 12;

interface Stage {
  world: World;
  store: ObjectStore;
  close(): Promise<void>;
}

const stores: Record<string, () => Promise<{ store?: ObjectStore; close(): Promise<void> }>> = {
  'a folder': async () => ({ close: async () => {} }),
  S3: async () => {
    const server = await startScriptedS3();
    const { bucket, endpoint, accessKeyId } = server;
    const credentials = { accessKeyId, secretAccessKey: 'secret' };
    const store = await openObjectStore(`s3://${bucket}`, { endpoint, region: 'us-east-1', credentials });
    return {
      store,
      close: async () => {
        await store.close();
        await server.close();
      },
    };
  },
};

async function open(name: string): Promise<Stage> {
  const { store: given, close } = await (stores[name] as () => ReturnType<(typeof stores)[string]>)();
  const world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, LENGTH) }], {
    maxBlocks: 4,
  });
  const store = given ?? world.objectStore;
  await world.want(FIRST, FIRST + LENGTH - 1);
  await world.noteHead();
  await world.settle(store);
  return {
    world,
    store,
    close: async () => {
      await world.close();
      await close();
    },
  };
}

async function allRows(world: World): Promise<BundleRow[]> {
  const rows = await Promise.all(
    KINDS.map((kind) => world.database.network('main').bundles.list(kind, 0, 100)),
  );
  return rows.flat();
}

describe.each(Object.keys(stores))('damage in %s', (name) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await open(name);
  });
  afterAll(() => stage.close());

  test('any single byte that flips is found by name and repaired; downloads give the original content, the old object stays', async () => {
    const { world, store } = stage;
    const original = new Map<Kind, Map<number, string>>();
    for (const kind of KINDS) original.set(kind, await world.published(kind, store));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1_000_000),
        fc.nat(1_000_000),
        fc.integer({ min: 1, max: 255 }),
        async (which, where, difference) => {
          const rows = await allRows(world);
          const row = rows[which % rows.length] as BundleRow;
          const bytes = Buffer.from(await store.read(row.objectKey));
          const position = where % bytes.length;
          bytes[position] = (bytes[position] as number) ^ difference;
          await putRaw(store, row.objectKey, bytes);

          const { findings } = await auditWorld({ ...world, objectStore: store });
          expect(findings).toHaveLength(1);
          expect(findings[0]).toMatchObject({
            kind: row.kind,
            from: row.firstBlock,
            to: row.lastBlock,
            key: row.objectKey,
            cause: 'sha256',
            expected: row.sha256,
          });
          expect(findings[0]?.message).toContain(`main ${row.kind} ${row.firstBlock}-${row.lastBlock}: `);

          const { outcome } = await auditAndRepair({ ...world, objectStore: store });
          expect(outcome.repairs).toMatchObject([{ state: 'repaired', version: row.version + 1 }]);
          expect(outcome).toMatchObject({ damaged: [], standing: 0 });
          expect((await auditWorld({ ...world, objectStore: store })).findings).toEqual([]);
          expect(await world.published(row.kind, store)).toEqual(original.get(row.kind));
          expect((await store.read(row.objectKey)).equals(bytes)).toBe(true);
          const [kept] = (await getSuperseded(world, row)).slice(-1);
          expect(kept).toMatchObject({ objectKey: row.objectKey, version: row.version });
        },
      ),
      { numRuns: 12 },
    );
  });

  test('an object that is gone is named, and comes back', async () => {
    const { world, store } = stage;
    const [row] = (await allRows(world)).slice(-1) as [BundleRow];
    await store.delete(row.objectKey);
    const { findings } = await auditWorld({ ...world, objectStore: store });
    expect(findings).toMatchObject([{ cause: 'missing', key: row.objectKey, got: 'no object' }]);
    const { outcome } = await auditAndRepair({ ...world, objectStore: store });
    expect(outcome).toMatchObject({ standing: 0, repairs: [{ state: 'repaired' }] });
    expect((await auditWorld({ ...world, objectStore: store })).findings).toEqual([]);
  });

  test('a truncated object is named', async () => {
    const { world, store } = stage;
    const [row] = (await allRows(world)) as [BundleRow];
    const bytes = await store.read(row.objectKey);
    await putRaw(store, row.objectKey, bytes.subarray(0, -100));
    const { findings } = await auditWorld({ ...world, objectStore: store });
    expect(findings).toMatchObject([{ cause: 'size', got: String(bytes.length - 100) }]);
    await putRaw(store, row.objectKey, bytes);
    expect((await auditWorld({ ...world, objectStore: store })).findings).toEqual([]);
  });
});
