import { toDay } from '@packhouse/runtime';
import { beforeAll, describe, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const NOON = Date.UTC(2026, 10, 11, 12);
const on = useCommands({ now: new Date(NOON) });
const today = toDay(NOON);

describe('keys usage', () => {
  let prefixes: string[];
  beforeAll(async () => {
    const make = async (application: string) =>
      (await on.database.keys.create({ application, network: null, plan: 'free' })).row;
    const [one, two, shop] = [await make('analytics'), await make('analytics'), await make('shop')];
    prefixes = [one, two, shop].map(({ prefix }) => prefix);
    const count = (keyId: number, day: number, method: string, units: number, network = 'main') => ({
      keyId,
      day,
      network,
      method,
      units,
      requests: 1,
      errors: 0,
      bytes: 1_500,
    });
    await on.database.usage.add([
      count(one.id, today, 'eth_getLogs', 5_000),
      count(one.id, today - 3, 'eth_call', 2),
      count(one.id, today - 20, 'eth_call', 7),
      count(two.id, today, 'pointer', 1, 'side'),
      { ...count(shop.id, today, 'other', 1), errors: 1 },
    ]);
  });

  test('says who used what: every key of a week, with its application', async () => {
    const { out } = await on.done('keys', 'usage');
    expect(out).toMatch(/^KEY +APPLICATION +REQUESTS +UNITS +ERRORS +SENT\n/);
    expect(out).toMatch(new RegExp(`^${prefixes[0]} +analytics +2 +5,002 +0 +3.0 kB$`, 'm'));
    expect(out).toMatch(new RegExp(`^${prefixes[2]} +shop +1 +1 +1 +1.5 kB$`, 'm'));
    expect(out).toMatch(/^total +4 +5,004 +1 +6.0 kB\n$/m);
    const rows = jsonLines(await on.done('keys', 'usage', '--json'));
    expect(rows).toContainEqual({
      key: prefixes[1],
      application: 'analytics',
      requests: 1,
      units: 1,
      errors: 0,
      bytes: 1_500,
    });
  });

  test('of one key or application, by day, method or network', async () => {
    const [first] = prefixes as [string];
    const byDay = jsonLines(await on.done('keys', 'usage', first, '--since', '30d', '--json'));
    expect(byDay.map(({ units }) => units)).toEqual([7, 2, 5_000]);
    const day = '2026-10-22';
    expect(byDay[0]).toMatchObject({ day });
    expect(
      jsonLines(await on.done('keys', 'usage', first, '--since', day, '--until', day, '--json')),
    ).toMatchObject([{ day, units: 7 }]);
    const byMethod = jsonLines(
      await on.done('keys', 'usage', '--application', 'analytics', '--by', 'method', '--json'),
    );
    expect(byMethod).toMatchObject([
      { method: 'eth_call' },
      { method: 'eth_getLogs' },
      { method: 'pointer' },
    ]);
    const byNetwork = await on.done(
      'keys',
      'usage',
      '--application',
      'analytics',
      '--by',
      'network',
      '--json',
    );
    expect(jsonLines(byNetwork)).toMatchObject([{ network: 'main' }, { network: 'side', units: 1 }]);
    expect((await on.done('keys', 'usage', first, '--until', '2020-01-07')).out).toBe(
      'No usage from 2020-01-01 to 2020-01-07.\n',
    );
  });

  test.each([
    [['ph_nobodyXX'], /Unknown key "ph_nobodyXX".*`packhouse keys list`.*\[KEY_UNKNOWN\]$/],
    [['--application', 'nobody'], /Unknown application "nobody".*\[APPLICATION_UNKNOWN\]$/],
    [['--since', 'monday'], /--since takes a day .*30d, got "monday".*\[USAGE\]$/],
    [['--until', '2026-02-30'], /--until takes a day, .*got "2026-02-30".*\[USAGE\]$/],
    [
      ['--since', '2026-02-02', '--until', '2026-02-01'],
      /--since is 2026-02-02, after the last day.*\[USAGE\]$/,
    ],
    [['--by', 'hour'], /--by takes key, day, method, network, got "hour".*\[USAGE\]$/],
  ])('refuses %j', async (args, sentence) => {
    expect(await on.refused(64, 'keys', 'usage', ...args)).toMatch(sentence);
  });
});
