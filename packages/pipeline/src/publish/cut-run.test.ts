import { KINDS } from '@packhouse/chain';
import { afterEach, expect, inject, test } from 'vitest';
import { ingest } from '../ingest/ingest.js';
import { plan } from '../plan/plan.js';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';

/** The first of a segment. */
const FIRST = 1_024;
let world: World;
afterEach(() => world.close());

const firstBundles = async (): Promise<number[]> =>
  (await world.database.network('main').bundles.list('logs', 0, 100))
    .slice(0, 2)
    .map((row) => row.firstBlock);

test('what comes before a run is waited for, but not for ever: staging does not grow behind one hole', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 48) }], { maxBlocks: 1 });
  await world.want(FIRST, FIRST + 47);
  await world.noteHead();
  const { signal } = world.context;
  const stageRange = async (start: number, end: number): Promise<void> => {
    for (let number = start; number <= end; number++) {
      await ingest(
        world.parts,
        { firstBlock: FIRST + number, lastBlock: FIRST + number, kinds: KINDS },
        signal,
      );
    }
  };
  await stageRange(10, 40);
  await world.packAll();
  expect(await firstBundles()).toEqual([]);
  expect((await plan({ ...world })).packJobs).toBe(0);

  await stageRange(41, 41);
  expect((await plan({ ...world })).packJobs).toBe(KINDS.length);
  await world.packAll();
  expect(await firstBundles()).toEqual([FIRST + 10, FIRST + 11]);

  await stageRange(0, 9);
  await world.packAll();
  expect((await world.database.network('main').coverage('logs')).published).toEqual([
    { firstBlock: FIRST, lastBlock: FIRST + 41 },
  ]);
});

test('no bundle holds more blocks than it may, however small they are', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(FIRST, 50) }], { maxBlocks: 7 });
  await world.want(FIRST, FIRST + 49);
  await world.noteHead();
  await ingest(world.parts, { firstBlock: FIRST, lastBlock: FIRST + 49, kinds: KINDS }, world.context.signal);
  await world.packAll();
  for (const kind of KINDS) {
    const rows = await world.database.network('main').bundles.list(kind, 0, 100);
    const sizes = rows.map(({ firstBlock, lastBlock }) => lastBlock - firstBlock + 1);
    expect(Math.max(...sizes)).toBe(7);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(50);
  }
});
