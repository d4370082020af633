import { DAY_MS, toDay } from '@packhouse/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';
import type { UsageCount } from './usage.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const getDay = (date: string): number => Date.parse(`${date}T00:00:00Z`) / DAY_MS;
const count = (keyId: number, date: string, more: Partial<UsageCount> = {}): UsageCount => ({
  keyId,
  day: getDay(date),
  network: 'main',
  method: 'eth_call',
  requests: 1,
  units: 2,
  errors: 0,
  bytes: 100,
  ...more,
});

it('adds up what many gateways tell at once, and tells the units of day and month', async () => {
  const { usage } = open.database;
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => {
      const rows = [
        count(1, '2026-03-31'),
        count(2, '2026-03-31'),
        count(1, '2026-03-31', { method: 'other' }),
      ];
      return usage.add(n % 2 === 0 ? rows : rows.reverse());
    }),
  );
  const day = getDay('2026-03-31');
  expect(await usage.units(1, day)).toEqual({ keyId: 1, day, inDay: 80, inMonth: 80 });
  expect(await usage.units(2, day)).toEqual({ keyId: 2, day, inDay: 40, inMonth: 40 });
  const told = await usage.add([count(1, '2026-03-01'), count(1, '2026-03-31'), count(1, '2026-04-01')]);
  expect(told.sort((a, b) => a.day - b.day)).toEqual([
    { keyId: 1, day: getDay('2026-03-01'), inDay: 2, inMonth: 84 },
    { keyId: 1, day, inDay: 82, inMonth: 84 },
    { keyId: 1, day: getDay('2026-04-01'), inDay: 2, inMonth: 2 },
  ]);
  expect(await usage.units(1, getDay('2026-04-30'))).toMatchObject({ inDay: 0, inMonth: 2 });
});

it('sums by key, day, method and network, within days and of some keys', async () => {
  const { keys, usage } = open.database;
  const { row } = await keys.create({ application: 'demo', network: null, plan: 'free' });
  await usage.add([
    count(row.id, '2025-01-01', { requests: 3, units: 15, method: 'eth_getLogs', errors: 1 }),
    count(row.id, '2025-01-02'),
    count(row.id, '2025-01-02', { network: 'side', method: 'pointer', units: 1 }),
    count(9_999, '2025-01-02'),
  ]);
  const january = { since: getDay('2025-01-01'), until: getDay('2025-01-31') };
  const mine = { ...january, keyIds: [row.id] };
  expect(await usage.sums({ ...mine, by: 'day' })).toEqual([
    { name: '2025-01-01', requests: 3, units: 15, errors: 1, bytes: 100 },
    { name: '2025-01-02', requests: 2, units: 3, errors: 0, bytes: 200 },
  ]);
  expect(await usage.sums({ ...mine, by: 'method' })).toMatchObject([
    { name: 'eth_call', units: 2 },
    { name: 'eth_getLogs', units: 15 },
    { name: 'pointer', units: 1 },
  ]);
  expect(await usage.sums({ ...mine, by: 'network' })).toMatchObject([{ name: 'main' }, { name: 'side' }]);
  expect(await usage.sums({ ...january, by: 'key' })).toMatchObject([
    { name: '9999', units: 2 },
    { name: row.prefix, units: 18 },
  ]);
  const of = { keyIds: [row.id], ...january };
  expect(await usage.parts({ ...of, of: 'network' })).toEqual([
    { day: getDay('2025-01-01'), name: 'main', units: 15 },
    { day: getDay('2025-01-02'), name: 'main', units: 2 },
    { day: getDay('2025-01-02'), name: 'side', units: 1 },
  ]);
  expect(await usage.parts({ ...of, of: 'method' })).toMatchObject([
    { name: 'eth_getLogs' },
    { name: 'eth_call' },
    { name: 'pointer' },
  ]);
  const second = { ...mine, since: getDay('2025-01-02'), until: getDay('2025-01-02') };
  expect(await usage.sums({ ...second, by: 'day' })).toMatchObject([{ name: '2025-01-02' }]);
  expect(await usage.sums({ ...mine, keyIds: [], by: 'day' })).toEqual([]);
});

it('keeps days as long as it is told, by the clock of Postgres', async () => {
  const { usage } = open.database;
  const today = toDay(Date.now());
  const days = [today - 401, today - 399, today].map((day) => ({ ...count(77, '2026-01-01'), day }));
  await usage.add(days);
  await usage.forget(400);
  const kept = await usage.sums({ keyIds: [77], since: 0, until: today, by: 'day' });
  expect(kept).toHaveLength(2);
  expect(await open.sql('SELECT day FROM packhouse.key_usage WHERE key_id = 77 ORDER BY day')).toEqual([
    { day: today - 399 },
    { day: today },
  ]);
});
