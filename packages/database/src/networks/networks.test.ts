import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashAt } from '../testing/make-run.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('registers a network once, however often and by however many it is told', async () => {
  const processes = Array.from({ length: 5 }, () => open.another());
  await Promise.all(processes.map(({ networks }) => networks.register({ id: 'many', chainId: 5 })));
  await open.database.networks.register({ id: 'many', chainId: 5 });
  expect(await open.database.networks.list()).toEqual([
    { id: 'main', chainId: 1 },
    { id: 'many', chainId: 5 },
  ]);
});

it('refuses a known network with another chain id', async () => {
  await expect(open.database.networks.register({ id: 'main', chainId: 2 })).rejects.toMatchObject({
    code: 'NODE_WRONG_CHAIN',
    data: { expected: 1, got: 2 },
  });
});

it('keeps the head of each network', async () => {
  const { head } = open.database;
  expect(await head.get('main')).toBeNull();
  await expect(
    head.set({ network: 'nowhere', number: 1, hash: hashAt(1), finalized: -1 }),
  ).rejects.toMatchObject({
    code: 'NETWORK_UNKNOWN',
  });
  await head.set({ network: 'main', number: 9, hash: hashAt(9), finalized: -1 });
  await head.set({ network: 'main', number: 8, hash: hashAt(8, 'b'), finalized: 2 });
  expect(await head.get('main')).toEqual({
    network: 'main',
    number: 8,
    hash: hashAt(8, 'b'),
    finalized: 2,
    observedAt: expect.any(Date),
  });
});

it('keeps wanted ranges by priority, and their states', async () => {
  const { wanted } = open.database;
  const late = await wanted.add({ network: 'main', kinds: ['traces'], start: 0, end: 10, priority: 900 });
  const first = await wanted.add({
    network: 'main',
    kinds: ['blocks', 'logs'],
    start: 5,
    end: null,
    priority: 1,
  });
  expect(await wanted.list()).toEqual([first, late]);
  expect(await wanted.list('nowhere')).toEqual([]);
  expect(await wanted.get(late.id)).toEqual(late);
  expect(await wanted.setState(late.id, 'cancelled')).toEqual({ ...late, state: 'cancelled' });
  expect(await wanted.get(-1)).toBeNull();
  expect(await wanted.setState(-1, 'paused')).toBeNull();
});
