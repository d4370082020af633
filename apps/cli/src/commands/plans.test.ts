import { describe, expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();

describe('plans', () => {
  test('are listed with their limits and the number of their keys', async () => {
    const { row } = await on.database.keys.create({ application: 'x', network: null, plan: 'free' });
    await on.database.keys.create({ application: 'x', network: null, plan: 'free' });
    await on.database.keys.revoke(row.prefix);
    const { out } = await on.done('plans', 'list');
    expect(out).toMatch(/^PLAN +A SECOND +A DAY +A MONTH +TO BLOCK +CALLS A SECOND +KEYS\n/);
    expect(out).toMatch(/^free +25 +100,000 +no limit +3,000,000 +- +1$/m);
    expect(out).toMatch(/^unlimited +1,000,000 +no limit +no limit +all +- +0$/m);
    expect(jsonLines(await on.done('plans', 'show', 'free', '--json'))).toEqual([
      {
        ...{ name: 'free', unitsPerSecond: 25, unitsPerDay: 100_000, unitsPerMonth: null },
        ...{ callsPerSecond: {}, maxBlock: 3_000_000, keys: 1 },
      },
    ]);
  });

  test('are changed in what is said, and in nothing else', async () => {
    const { out } = await on.done(
      ...['plans', 'set', 'free', '--per-month', '2,000,000', '--max-block', 'none'],
      ...['--method', 'eth_getLogs=5', 'eth_call=20'],
    );
    expect(out).toMatch(/^ {2}units a month: +2,000,000$/m);
    expect(out).toMatch(/^Every gateway has these limits within a second\.$/m);
    const plan = async () => (await on.database.plans.list()).find(({ name }) => name === 'free');
    expect(await plan()).toEqual({
      ...{ name: 'free', maxBlock: null, requestsPerSecond: 25, requestsPerDay: 100_000 },
      ...{ requestsPerMonth: 2_000_000, methodsPerSecond: { eth_getLogs: 5, eth_call: 20 } },
    });
    await on.done('plans', 'set', 'free', '--method', 'eth_getLogs=none', '--max-block', '3000000');
    await on.done('plans', 'set', 'free', '--per-month', 'none', '--per-day', '7', '--per-second', '3');
    expect(await plan()).toEqual({
      ...{ name: 'free', maxBlock: 3_000_000, requestsPerSecond: 3, requestsPerDay: 7 },
      ...{ requestsPerMonth: null, methodsPerSecond: { eth_call: 20 } },
    });
    expect((await on.done('plans', 'show', 'free')).out).toMatch(/^ {2}calls a second: +eth_call=20$/m);
  });

  test('are made only if that is said, and keys are made with them', async () => {
    expect(await on.refused(64, 'plans', 'set', 'gold', '--per-second', '9')).toMatch(
      /no plan "gold".*free, standard, unlimited.*--new.*\[PLAN_UNKNOWN\]$/,
    );
    await on.done('plans', 'set', 'gold', '--new', '--per-second', '9');
    await on.done('keys', 'create', '--application', 'rich', '--plan', 'gold');
    expect((await on.done('plans', 'list')).out).toMatch(/^gold +9 +no limit +no limit +all +- +1$/m);
  });

  test.each([
    [['show', 'silver'], /no plan "silver".*\[PLAN_UNKNOWN\]$/],
    [['set', 'free'], /Nothing is to be changed.*--per-second.*\[USAGE\]$/],
    [['set', 'Free Plan', '--per-day', '1'], /a name of 1 to 32.*\[USAGE\]$/],
    [['set', 'free', '--per-second', 'none'], /--per-second takes a whole number.*\[USAGE\]$/],
    [['set', 'free', '--per-day', '0'], /--per-day takes a whole number from 1.*\[USAGE\]$/],
    [
      ['set', 'free', '--method', 'eth_getLogs'],
      /--method cannot be "eth_getLogs".*eth_getLogs=5.*\[USAGE\]$/,
    ],
  ])('refuses %j', async (args, sentence) => {
    expect(await on.refused(64, 'plans', ...args)).toMatch(sentence);
  });
});
