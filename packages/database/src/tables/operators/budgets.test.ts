import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

const budget = {
  provider: 'p',
  unit: 'units' as const,
  perSecond: 0.5,
  perDay: 3_000_000,
  perMonth: null,
  weights: { eth_getLogs: 75 },
  reserve: 0.1,
  pricePerMillion: 1.2,
  currency: 'USD',
};

it('keeps budgets, and who changed them', async () => {
  const { budgets, changes } = open.database;
  expect(await budgets.change('p', () => budget, 'ada')).toEqual(budget);
  expect(await budgets.list()).toEqual([budget]);
  // Two at once: neither change is lost.
  const add = (method: string) =>
    budgets.change('p', (before) => ({ ...budget, weights: { ...before?.weights, [method]: 2 } }), 'bob');
  await Promise.all([add('a'), add('b')]);
  expect((await budgets.list())[0]?.weights).toEqual({ eth_getLogs: 75, a: 2, b: 2 });
  expect(await budgets.change('p', () => null, 'eve')).toBeNull();
  expect(await budgets.list()).toEqual([]);
  expect(await changes.list({ subject: 'budget p' })).toMatchObject([
    { actor: 'eve', action: 'remove', after: null },
    { actor: 'bob', action: 'set' },
    { actor: 'bob', action: 'set' },
    { actor: 'ada', action: 'add', before: null, after: { perDay: 3_000_000 } },
  ]);
});

it('stores a state only over the one that was read, and tells its time', async () => {
  const { budgets } = open.database;
  const first = await budgets.read('k');
  expect(first.state).toBeNull();
  expect(await budgets.swap('k', null, '{"at":1}')).toBe(true);
  expect(await budgets.swap('k', null, '{"at":2}')).toBe(false);
  const { now, state } = await budgets.read('k');
  expect(now).toBeGreaterThanOrEqual(first.now);
  expect(await budgets.swap('k', '{"at":7}', '{"at":3}')).toBe(false);
  expect(await budgets.swap('k', state, '{"at":3}')).toBe(true);
  await budgets.forget('k');
  expect((await budgets.read('k')).state).toBeNull();
});

it('names the networks that wait, until they need no more', async () => {
  const { budgets } = open.database;
  const wait = { network: 'main', provider: 'p', period: 'day' as const };
  await budgets.noteWait({ ...wait, until: new Date(Date.now() + 3_600_000) });
  expect(await budgets.waits()).toMatchObject([wait]);
  await budgets.noteWait({ ...wait, until: new Date(Date.now() - 1) });
  expect(await budgets.waits()).toEqual([]);
});
