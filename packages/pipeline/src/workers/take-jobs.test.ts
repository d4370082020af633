import { KINDS } from '@packhouse/chain';
import type { Job } from '@packhouse/queue';
import { systemClock } from '@packhouse/runtime';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { chainFrom } from '../testing/chains.js';
import { makeWorld, type World } from '../testing/world.js';
import { takeJobs } from './take-jobs.js';

let world: World;
beforeEach(async () => {
  world = await makeWorld(inject('postgresUrl'), [{ blocks: chainFrom(0, 2) }]);
});
afterEach(() => world.close());

const enqueue = (firstBlock: number) => {
  const payload = { network: 'main', firstBlock, lastBlock: firstBlock, kinds: [...KINDS] };
  return world.queues.add('ingest', [{ id: `main.${firstBlock}.${firstBlock}.31`, payload, priority: 1 }]);
};

test('a worker says what it does, finishes its job and takes no other while it drains, and leaves', async () => {
  const { workers } = world.database;
  const taken: number[] = [];
  const ends: (() => void)[] = [];
  const handler = async ({ payload }: Job<'ingest'>): Promise<void> => {
    taken.push(payload.firstBlock);
    await new Promise<void>((resolve) => ends.push(resolve));
  };
  const jobs = await takeJobs({
    context: {
      ...world.context,
      clock: { ...systemClock, sleep: (_, signal) => systemClock.sleep(20, signal) },
    },
    database: world.database,
    queues: world.queues,
    queue: 'ingest',
    role: 'ingester',
    pid: 77,
    networks: () => ['main'],
    file: { digest: () => 'ab', problem: () => null },
    concurrency: 4,
    handler,
  });
  const own = async () => (await workers.list())[0];

  await enqueue(1);
  await expect.poll(async () => (await own())?.jobs.map(({ job }) => job)).toEqual(['main.1.1.31']);
  expect(await own()).toMatchObject({
    role: 'ingester',
    pid: 77,
    slots: 4,
    draining: false,
    networksDigest: 'ab',
  });
  await workers.setDraining((await own())?.id as string, true);
  await expect.poll(() => workers.slots('main')).toBe(0);
  // The beat that read it has closed the queue by the time the next one is written.
  const seen = (await own())?.seenAt.getTime() as number;
  await expect.poll(async () => (await own())?.seenAt.getTime()).toBeGreaterThan(seen + 40);
  await enqueue(2);
  ends.shift()?.();
  await expect.poll(async () => (await own())?.jobs).toEqual([]);
  expect(taken).toEqual([1]);

  await workers.setDraining((await own())?.id as string, false);
  await expect.poll(() => taken).toEqual([1, 2]);
  ends.shift()?.();
  await jobs.close();
  expect(await workers.list()).toEqual([]);
});
