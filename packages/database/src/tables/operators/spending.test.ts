import { toDay } from '@packhouse/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const count = {
  day: 20_000,
  network: 'main',
  upstream: 'a',
  provider: 'p',
  method: 'eth_getLogs',
  owner: 'team',
  backfill: 7,
  requests: 3,
  units: 225,
  bytes: 1_000,
};

it('adds up requests by upstream, by owner and by range', async () => {
  const { spending } = open.database;
  const other = { ...count, day: 20_001, method: 'eth_call', owner: '-', backfill: null, units: 3 };
  await spending.add([count, count, other]);
  await Promise.all([spending.add([count, other]), spending.add([other, count])]);
  await spending.add([]);
  const base = { provider: 'p', network: 'main', upstream: 'a' };
  expect(await spending.upstreams(20_000, 20_001)).toEqual([
    { ...base, method: 'eth_call', requests: 9, units: 9, bytes: 3_000 },
    { ...base, method: 'eth_getLogs', requests: 12, units: 900, bytes: 4_000 },
  ]);
  expect(await spending.owners(20_000, 20_000)).toEqual([
    { day: 20_000, owner: 'team', requests: 12, units: 900, bytes: 4_000 },
  ]);
  expect((await spending.ofBackfills([7])).get(7)).toEqual({ requests: 12, units: 900, bytes: 4_000 });
  expect((await spending.ofBackfills([7, 8])).has(8)).toBe(false);
});

it('forgets what is older than it is told', async () => {
  const { spending } = open.database;
  const today = toDay(Date.now());
  await spending.add([{ ...count, day: today, owner: 'new', backfill: 9 }]);
  await spending.forget(400);
  expect((await spending.owners(0, today + 1)).map(({ owner }) => owner)).toEqual(['new']);
  expect((await spending.ofBackfills([7])).has(7)).toBe(false);
  expect((await spending.ofBackfills([9])).get(9)?.requests).toBe(3);
});
