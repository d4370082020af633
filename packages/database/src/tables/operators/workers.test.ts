import { runSql } from '@packhouse/local';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';
import type { WorkerHeartbeat } from './workers.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const makeHeartbeat = (n: number, more: Partial<WorkerHeartbeat> = {}): WorkerHeartbeat => ({
  id: `0000000${n}-0000-4000-8000-000000000000`,
  role: 'ingester',
  host: 'here',
  pid: n,
  networks: ['main'],
  slots: 16,
  jobs: [],
  networksDigest: 'ab',
  networksProblem: null,
  ...more,
});

it('knows the networks of ingesters that did not leave', async () => {
  const { workers } = open.database;
  expect(await workers.networks()).toBeNull();
  await workers.heartbeat(makeHeartbeat(6, { role: 'packer', networks: ['packed'] }));
  expect(await workers.networks()).toBeNull();
  await workers.heartbeat(makeHeartbeat(7, { networks: [] }));
  expect(await workers.networks()).toEqual([]);
  await workers.heartbeat(makeHeartbeat(8, { networks: ['two', 'one'] }));
  await workers.heartbeat(makeHeartbeat(7, { networks: ['one'] }));
  expect(await workers.networks()).toEqual(['one', 'two']);
  for (const n of [6, 7, 8]) await workers.leave(makeHeartbeat(n).id);
});

it('counts the slots of live ingesters of a network that do not drain', async () => {
  const { workers } = open.database;
  expect(await workers.slots('main')).toBe(0);
  await workers.heartbeat(makeHeartbeat(1));
  await workers.heartbeat(makeHeartbeat(2, { slots: 3 }));
  await workers.heartbeat(makeHeartbeat(3, { networks: ['other'] }));
  await workers.heartbeat(makeHeartbeat(4, { role: 'packer' }));
  expect(await workers.slots('main')).toBe(19);
  await workers.heartbeat(makeHeartbeat(2, { slots: 5 }));
  expect(await workers.slots('main')).toBe(21);
  expect(await workers.setDraining(makeHeartbeat(1).id, true)).toBe(true);
  expect(await workers.heartbeat(makeHeartbeat(1))).toEqual({ draining: true });
  expect(await workers.slots('main')).toBe(5);
  expect(await workers.setDraining(makeHeartbeat(9).id, true)).toBe(false);
  await workers.leave(makeHeartbeat(2).id);
  expect(await workers.slots('main')).toBe(0);
});

it('knows when an ingester of a network was last seen, also after it left or was killed', async () => {
  const { networks, workers } = open.database;
  for (const [chainId, id] of ['left', 'killed', 'never'].entries()) {
    await networks.register({ id, chainId: 100 + chainId });
  }
  await workers.heartbeat(makeHeartbeat(6, { networks: ['left', 'of-no-file'] }));
  await workers.heartbeat(makeHeartbeat(7, { networks: ['killed'] }));
  await workers.heartbeat(makeHeartbeat(8, { role: 'packer', networks: ['never'] }));
  const seen = async () => [...(await workers.ingesterSeen()).keys()].filter((id) => id !== 'main').sort();
  expect(await seen()).toEqual(['killed', 'left']);
  const before = (await workers.ingesterSeen()).get('left');
  await workers.leave(makeHeartbeat(6).id);
  expect((await workers.ingesterSeen()).get('left')).toEqual(before);
  // Those that ended without a word are forgotten when another leaves, a day later.
  await open.sql(`UPDATE packhouse.worker SET seen_at = seen_at - interval '25 hours' WHERE pid = 7`);
  await workers.leave(makeHeartbeat(8).id);
  expect(await seen()).toEqual(['killed', 'left']);
  expect((await workers.ingesterSeen()).get('killed')?.getTime()).toBeLessThan(Date.now() - 86_400_000);
});

it('says since when a worker drains, also if it is told so twice', async () => {
  const { workers } = open.database;
  const { id } = makeHeartbeat(9);
  await workers.heartbeat(makeHeartbeat(9));
  const find = async () => (await workers.list()).find((row) => row.id === id);
  expect(await find()).toMatchObject({ draining: false, drainingSince: null });
  await workers.setDraining(id, true);
  const since = (await find())?.drainingSince;
  expect(since).toEqual(expect.any(Date));
  await workers.setDraining(id, true);
  expect(await find()).toMatchObject({ draining: true, drainingSince: since });
  await workers.setDraining(id, false);
  expect(await find()).toMatchObject({ draining: false, drainingSince: null });
  await workers.leave(id);
});

it('a worker that was not seen for 15 s has ended', async () => {
  const { workers } = open.database;
  await workers.heartbeat(makeHeartbeat(5));
  await runSql(
    open.url,
    `UPDATE packhouse.worker SET seen_at = seen_at - interval '16 seconds' WHERE pid = 5`,
  );
  expect((await workers.list()).map(({ pid }) => pid)).not.toContain(5);
  await workers.heartbeat(makeHeartbeat(5));
  expect((await workers.list()).map(({ pid }) => pid)).toContain(5);
});
