import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';
import type { Plan } from './plans.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('keeps the plans that there were, with no limit of a month or of a method', async () => {
  const unlimited = {
    maxBlock: null,
    requestsPerDay: null,
    requestsPerMonth: null,
    methodsPerSecond: {},
    maxLogRange: null,
  };
  expect(await open.database.plans.list()).toEqual([
    { ...unlimited, name: 'free', maxBlock: 3_000_000, requestsPerSecond: 25, requestsPerDay: 100_000 },
    { ...unlimited, name: 'standard', requestsPerSecond: 250 },
    { ...unlimited, name: 'unlimited', requestsPerSecond: 1_000_000 },
  ]);
});

it('changes what is given of a plan and nothing else, for the keys that have it', async () => {
  const { keys, plans } = open.database;
  const { row } = await keys.create({ application: 'demo', network: null, plan: 'free' });
  const changed = await plans.set('free', {
    maxBlock: null,
    requestsPerMonth: 2_000_000,
    methodsPerSecond: { eth_getLogs: 5 },
    maxLogRange: 2_000,
  });
  expect(changed).toEqual({
    name: 'free',
    maxBlock: null,
    requestsPerSecond: 25,
    requestsPerDay: 100_000,
    requestsPerMonth: 2_000_000,
    methodsPerSecond: { eth_getLogs: 5 },
    maxLogRange: 2_000,
  });
  const planNow = async () => (await keys.list()).find(({ id }) => id === row.id)?.plan;
  expect(await planNow()).toEqual(changed);
  await plans.set('free', { requestsPerMonth: null, methodsPerSecond: {}, requestsPerSecond: 30 });
  expect(await planNow()).toEqual({
    ...changed,
    requestsPerMonth: null,
    methodsPerSecond: {},
    requestsPerSecond: 30,
  });
  expect(await plans.set('free', {})).toEqual(await planNow());
});

it('changes nothing of a plan that is not as it was expected, and of two changes at once makes one', async () => {
  const { plans } = open.database;
  const [plan] = await plans.list();
  const { name, ...expected } = plan ?? { name: '' };
  const set = (requestsPerSecond: number) =>
    plans.set(name, { requestsPerSecond }, { expected: expected as Omit<Plan, 'name'> });
  const done = await Promise.all([set(41), set(42)]);
  expect(done.filter((each) => each === null)).toHaveLength(1);
  expect((await plans.list())[0]).toEqual(done.find((each) => each !== null));
});

it('makes a plan only if it is told to', async () => {
  const { plans } = open.database;
  await expect(plans.set('gold', { requestsPerDay: 5 })).rejects.toMatchObject({
    code: 'PLAN_UNKNOWN',
    hint: 'Plans are free, standard, unlimited.',
  });
  const gold = await plans.set('gold', { requestsPerDay: 5 }, { make: true });
  expect(gold).toMatchObject({ name: 'gold', requestsPerSecond: 25, requestsPerDay: 5, maxBlock: null });
  expect(await plans.set('gold', { requestsPerSecond: 7 }, { make: true })).toMatchObject({
    requestsPerSecond: 7,
    requestsPerDay: 5,
  });
  expect((await plans.list()).map(({ name }) => name)).toEqual(['free', 'standard', 'unlimited', 'gold']);
});
