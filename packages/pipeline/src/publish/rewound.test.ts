import { KINDS } from '@packhouse/chain';
import type { ObjectStore } from '@packhouse/object-store';
import { generateChain } from '@packhouse/replay-node';
import { afterEach, expect, inject, test } from 'vitest';
import { makeWorld, type World } from '../testing/world.js';

const FIRST = 1_000;
const LENGTH = 16;

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

/** A database of its own that wants the same blocks; its node gives the chain of `seed`. */
async function openWorld(seed: number): Promise<World> {
  const blocks = [...generateChain({ length: LENGTH, txsPerBlock: 3, startNumber: FIRST, seed })];
  const world = await makeWorld(inject('postgresUrl'), [{ blocks }], { maxBlocks: 8 });
  worlds.push(world);
  await world.want(FIRST, FIRST + LENGTH - 1);
  await world.noteHead();
  return world;
}

async function readAll(store: ObjectStore): Promise<Map<string, string>> {
  const objects = new Map<string, string>();
  for await (const { key } of store.list('')) objects.set(key, (await store.read(key)).toString('base64'));
  return objects;
}

test('a database that lacks what was published replaces no object by other bytes, and goes on with the same ones', async () => {
  const published = await openWorld(1);
  await published.settle();
  const { objectStore } = published;
  const before = await readAll(objectStore);
  expect(before.size).toBeGreaterThan(KINDS.length);

  const other = await openWorld(2);
  await expect(other.settle(objectStore)).rejects.toMatchObject({ code: 'OBJECT_EXISTS', retryable: true });
  expect(await readAll(objectStore)).toEqual(before);
  const main = other.database.network('main');
  for (const kind of KINDS) expect((await main.coverage(kind)).published).toEqual([]);
  expect(await main.alarms.list()).toMatchObject([
    {
      name: 'MANIFEST_REWOUND',
      message: expect.stringMatching(/^Blocks 10\d\d-10\d\d .* run `packhouse adopt --network main`/),
    },
  ]);

  const same = await openWorld(1);
  await same.settle(objectStore);
  expect(await readAll(objectStore)).toEqual(before);
  const { published: ranges } = await same.database.network('main').coverage('logs');
  expect(ranges).toEqual([{ firstBlock: FIRST, lastBlock: FIRST + LENGTH - 1 }]);
  expect(await same.database.network('main').alarms.list()).toEqual([]);
});
