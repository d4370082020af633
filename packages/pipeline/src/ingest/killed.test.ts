import { generateChain } from '@packhouse/replay-node';
import { systemClock } from '@packhouse/runtime';
import { afterEach, expect, inject, test } from 'vitest';
import { makeWorld, type World } from '../testing/world.js';
import { ingest } from './ingest.js';

/** A window of the most blocks. */
const BLOCKS = 1_024;
let world: World;
afterEach(() => world.close());

test('of a killed window less than two thirds are asked again, and nothing that was staged (invariant 5)', async () => {
  const blocks = generateChain({ length: BLOCKS, txsPerBlock: 0, startNumber: BLOCKS });
  world = await makeWorld(inject('postgresUrl'), [{ blocks }]);
  const window = { firstBlock: BLOCKS, lastBlock: 2 * BLOCKS - 1, kinds: ['blocks'] as const };
  const getAsked = (): number => world.nodes[0]?.stats().callsByMethod.eth_getBlockByNumber ?? 0;
  const getStaged = async (): Promise<number> => {
    const { staged } = await world.database.network('main').coverage('blocks');
    return staged.reduce((sum, { firstBlock, lastBlock }) => sum + lastBlock - firstBlock + 1, 0);
  };
  const stop = new AbortController();
  const { staging } = world.parts.database;
  let runs = 0;
  const stage: typeof staging.stage = (request) => {
    runs += 1;
    // What a kill cuts off: from here on nothing is staged.
    return runs === 1
      ? staging.stage(request)
      : systemClock.sleep(600_000, stop.signal).then(() => 0 as never);
  };
  const database = { ...world.parts.database, staging: { ...staging, stage } };
  const running = ingest({ ...world.parts, database }, window, stop.signal).catch(() => undefined);
  await expect.poll(() => runs, { timeout: 120_000 }).toBe(2);
  let before = -1;
  // Until it asks for no more.
  await expect
    .poll(
      () => {
        const same = before === getAsked() && world.nodes[0]?.stats().inFlight === 0;
        before = getAsked();
        return same;
      },
      { timeout: 120_000, interval: 500 },
    )
    .toBe(true);
  const asked = getAsked();
  const staged = await getStaged();
  stop.abort(new Error('killed'));
  await running;
  expect(staged).toBeGreaterThan(0);
  expect(asked - staged).toBeLessThan((BLOCKS * 2) / 3);

  await ingest(world.parts, window, world.context.signal, 2);
  expect(await getStaged()).toBe(BLOCKS);
  expect(getAsked() - asked).toBe(BLOCKS - staged);
});
