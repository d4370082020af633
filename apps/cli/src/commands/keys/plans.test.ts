import { describe, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();

describe('plans', () => {
  test('are listed with their limits and the number of their keys', async () => {
    const { row } = await on.database.keys.create({ application: 'x', network: null, plan: 'free' });
    await on.database.keys.create({ application: 'x', network: null, plan: 'free' });
    await on.database.keys.revoke(row.prefix);
    const { out } = await on.done('plans', 'list');
    expect(out).toMatch(
      /^PLAN +PER SECOND +PER DAY +PER MONTH +LAST BLOCK +LOG RANGE +CALLS PER SECOND +KEYS\n/,
    );
    expect(out).toMatch(/^free +25 +100,000 +no limit +3,000,000 +no limit +- +1$/m);
    expect(out).toMatch(/^unlimited +1,000,000 +no limit +no limit +all +no limit +- +0$/m);
    expect(jsonLines(await on.done('plans', 'show', 'free', '--json'))).toEqual([
      {
        name: 'free',
        unitsPerSecond: 25,
        unitsPerDay: 100_000,
        unitsPerMonth: null,
        callsPerSecond: {},
        maxBlock: 3_000_000,
        maxLogRange: null,
        unlimited: false,
        keys: 1,
      },
    ]);
  });

  test('are changed in what is said, and in nothing else', async () => {
    const { out } = await on.done(
      ...['plans', 'set', 'free', '--per-month', '2,000,000', '--max-block', 'none'],
      ...['--max-log-range', '2,000'],
      ...['--method', 'eth_getLogs=5', 'eth_call=20'],
    );
    expect(out).toMatch(/^ {2}units per month: +2,000,000$/m);
    expect(out).toMatch(/^These limits apply at every gateway within a second\.$/m);
    const plan = async () => (await on.database.plans.list()).find(({ name }) => name === 'free');
    expect(await plan()).toEqual({
      name: 'free',
      maxBlock: null,
      requestsPerSecond: 25,
      requestsPerDay: 100_000,
      requestsPerMonth: 2_000_000,
      methodsPerSecond: { eth_getLogs: 5, eth_call: 20 },
      maxLogRange: 2_000,
    });
    await on.done('plans', 'set', 'free', '--method', 'eth_getLogs=none', '--max-block', '3000000');
    await on.done('plans', 'set', 'free', '--per-month', 'none', '--per-day', '7', '--per-second', '3');
    await on.done('plans', 'set', 'free', '--max-log-range', 'none');
    expect(await plan()).toEqual({
      name: 'free',
      maxBlock: 3_000_000,
      requestsPerSecond: 3,
      requestsPerDay: 7,
      requestsPerMonth: null,
      methodsPerSecond: { eth_call: 20 },
      maxLogRange: null,
    });
    expect((await on.done('plans', 'show', 'free')).out).toMatch(/^ {2}calls per second: +eth_call=20$/m);
  });

  test('are made only if that is said, and keys are made with them', async () => {
    expect(await on.refused(64, 'plans', 'set', 'gold', '--per-second', '9')).toMatch(
      /Unknown plan "gold".*free, standard, unlimited.*--new.*\[PLAN_UNKNOWN\]$/,
    );
    await on.done('plans', 'set', 'gold', '--new', '--per-second', '9');
    await on.done('keys', 'create', '--application', 'rich', '--plan', 'gold');
    expect((await on.done('plans', 'list')).out).toMatch(
      /^gold +9 +no limit +no limit +all +no limit +- +1$/m,
    );
  });

  test.each([
    [['show', 'silver'], /no plan "silver".*\[PLAN_UNKNOWN\]$/],
    [['set', 'free'], /No change is given.*--per-second.*\[USAGE\]$/],
    [['set', 'Free Plan', '--per-day', '1'], /The name takes 1 to 32.*\[USAGE\]$/],
    [['set', 'free', '--per-second', 'none'], /--per-second takes a whole number.*\[USAGE\]$/],
    [['set', 'free', '--max-log-range', '0'], /--max-log-range takes a whole number from 1.*\[USAGE\]$/],
    [['set', 'free', '--per-day', '0'], /--per-day takes a whole number from 1.*\[USAGE\]$/],
    [
      ['set', 'free', '--method', 'eth_getLogs'],
      /--method cannot be "eth_getLogs".*eth_getLogs=5.*\[USAGE\]$/,
    ],
  ])('refuses %j', async (args, sentence) => {
    expect(await on.refused(64, 'plans', ...args)).toMatch(sentence);
  });
});
