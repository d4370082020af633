import type { BlockSource } from '@packhouse/node-rpc';
import { afterEach, expect, inject, test } from 'vitest';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { createUnansweredRetry } from './retry-unanswered.js';

let world: World;
afterEach(() => world.close());

test('blocks that no node answered for are due as soon as one is healthy again, and no others', async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(0, 2) }]);
  await world.want(0, 99);
  const { quarantine } = world.database.network('main');
  const hold = (firstBlock: number, cause: string) =>
    quarantine.put({
      firstBlock,
      kinds: ['blocks'],
      cause,
      message: cause,
      upstream: null,
      payloadDigest: null,
    });
  const getDue = async (): Promise<number[]> =>
    (await quarantine.due({ finalized: 99, limit: 9 })).map(({ firstBlock }) => firstBlock);
  const healthy = { one: true, two: true };
  const status = () =>
    Object.entries(healthy).map(([name, is]) => ({ name, healthy: is })) as ReturnType<BlockSource['status']>;
  const retry = createUnansweredRetry({ database: world.parts.database, source: { status } });
  expect(await retry()).toBe(0);
  healthy.two = false;
  expect(await retry()).toBe(0);
  await hold(3, 'NODE_TIMEOUT');
  await hold(5, 'PROOF_FAILED');
  await hold(7, 'NODE_UNREACHABLE');
  expect(await retry()).toBe(0);
  expect(await getDue()).toEqual([]);
  healthy.two = true;
  expect(await retry()).toBe(2);
  expect((await getDue()).sort()).toEqual([3, 7]);
  await hold(9, 'NODE_TIMEOUT');
  expect(await retry()).toBe(0);
});
