import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { toDay } from '@packhouse/runtime';
import { describe, expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const NOON = Date.UTC(2026, 10, 11, 12);
const on = useCommands({ now: new Date(NOON) });
const spent = {
  day: toDay(NOON),
  network: 'main',
  upstream: 'a',
  provider: 'p',
  owner: 'team',
  backfill: null,
  bytes: 2_000_000,
};

describe('budgets', () => {
  test('are set, listed with what is used, changed and removed', async () => {
    expect((await on.done('budget', 'list')).out).toBe('No budgets.\n');
    await on.database.spending.add([
      { ...spent, method: 'eth_getLogs', requests: 10, units: 10 },
      { ...spent, method: 'eth_call', requests: 5, units: 5 },
    ]);
    const set = ['budget', 'set', 'p', '--per-second', '0.5', '--per-day', '3M', '--per-month', '80M'];
    const weights = ['--weights', 'eth_getLogs=75,other=20', '--price', '1.2', '--currency', 'USD'];
    const { out } = await on.done(...set, ...weights);
    // Ten of 75 units and five of 20.
    expect(out).toMatch(/^p +units +0\.5 +850 of 3,000,000 +\d+ of 80,000,000 +10% +1\.2 USD\/M +-$/m);
    const [row] = jsonLines(
      await on.done('budget', 'set', 'p', '--per-day', '900', '--reserve', '50', '--json'),
    );
    expect(row).toMatchObject({ provider: 'p', perDay: 900, perSecond: 0.5, reserve: 0.5, usedOfDay: 850 });
    expect((await on.done('budget', 'list')).out).toMatch(
      /850 of 900 .* for backfills until 2026-11-12T00:00Z$/m,
    );
    expect(jsonLines(await on.done('budget', 'list', '--json'))).toMatchObject([
      { weights: { other: 20 }, waiting: [] },
    ]);
    const until = new Date(NOON + 60_000);
    await on.database.budgets.noteWait({ network: 'main', provider: 'p', period: 'day', until });
    expect(jsonLines(await on.done('budget', 'list', '--json'))).toMatchObject([
      { waiting: [{ network: 'main', period: 'day', until: until.toISOString() }] },
    ]);
    expect((await on.done('budget', 'remove', 'p')).out).toBe('Budget of p removed.\n');
    expect(await on.refused(64, 'budget', 'remove', 'p')).toMatch(
      /No budget for provider "p".*\[BUDGET_UNKNOWN\]$/,
    );
    const history = await on.database.changes.list({ subject: 'budget p' });
    expect(history.map(({ action }) => action)).toEqual(['remove', 'set', 'add']);
  });

  test.each([
    [['p'], /needs a limit: per second, per day or per month/],
    [['p', '--per-day', '-5'], /--per-day/],
    [['p', '--per-day', '0'], /--per-day.*"0"/],
    [['p', '--per-second', '0'], /--per-second.*above 0/],
    [['p', '--per-second', '1e99'], /--per-second.*"1e99"/],
    [['p', '--per-day', '99999999999M'], /--per-day/],
    [['a b', '--per-day', '5'], /The provider takes letters/],
    [['p', '--per-day', '5M', '--weights', 'eth_getLog=5'], /Unknown method eth_getLog\./],
    [['p', '--per-day', '5M', '--weights', 'eth_getLogs'], /--weights takes comma-separated method=units/],
    [
      ['p', '--per-day', '50', '--weights', 'eth_getLogs=75'],
      /leaves 45 units to backfills, less than the 75 of eth_getLogs/,
    ],
    [['p', '--per-day', '1'], /leaves 0 units to backfills, less than the 1 of a request/],
    [
      ['p', '--per-day', '5M', '--unit', 'requests', '--weights', 'eth_call=2'],
      /Units per request, by method, need the unit "units"/,
    ],
    [['p', '--per-day', '5M', '--unit', 'calls'], /--unit takes requests or units/],
    [['p', '--per-day', '5M', '--reserve', '95'], /--reserve.*0 to 90/],
    [['p', '--per-day', '5M', '--currency', 'dollars'], /--currency/],
  ])('`budget set %j` is refused', async (args, line) => {
    const refused = await on.refused(64, 'budget', 'set', ...(args as string[]));
    expect(refused).toMatch(line as RegExp);
    expect(refused).toMatch(/\[USAGE\]$/);
    expect(await on.database.budgets.list()).toEqual([]);
  });

  test('one host under two names, and a provider that no upstream has, are told', async () => {
    const file = path.join(on.directory, 'networks.yaml');
    const upstreams =
      '[{url: "https://h.example/1", provider: one}, {url: "https://h.example/2", provider: two}]';
    await writeFile(file, `networks:\n  - {id: main, family: evm, chainId: 1, upstreams: ${upstreams}}\n`);
    on.env.NETWORKS_FILE = file;
    try {
      expect((await on.done('budget', 'list')).out).toContain('one and two are both at h.example. ');
      const wrong = 'No upstream has the provider onee. The networks file has one, two.';
      expect((await on.done('budget', 'set', 'onee', '--per-day', '5')).out).toContain(wrong);
      expect((await on.done('budget', 'set', 'one', '--per-day', '5')).out).not.toContain(wrong);
      expect((await on.done('budget', 'list')).out).toContain(wrong);
      await writeFile(file, 'networks: [');
      expect((await on.done('budget', 'set', 'one', '--per-day', '6')).out).toContain(
        'is not a valid networks file: ',
      );
    } finally {
      delete on.env.NETWORKS_FILE;
      for (const provider of ['one', 'onee']) await on.database.budgets.change(provider, () => null, 'ada');
    }
  });
});

describe('usage', () => {
  test('is told by upstream with its cost, and by owner', async () => {
    await on.done('budget', 'set', 'q', '--per-month', '80M', '--price', '2', '--currency', 'EUR');
    const row = { ...spent, provider: 'q', upstream: 'b', owner: 'other', method: 'eth_call' };
    await on.database.spending.add([{ ...row, requests: 1_000_000, units: 1_500_000 }]);
    const { out } = await on.done('usage', 'upstreams', '--since', '1d');
    expect(out).toMatch(/^p +main +a +eth_getLogs +10 +10 +2\.0 MB +-$/m);
    expect(out).toMatch(/^q +main +b +eth_call +1,000,000 +1,500,000 +2\.0 MB +3\.00 EUR$/m);
    expect(out).toMatch(/^total +1,000,015 /m);
    const owners = jsonLines(await on.done('usage', 'owners', '--json'));
    expect(owners).toMatchObject([
      { owner: 'other', requests: 1_000_000 },
      { owner: 'team', requests: 15 },
    ]);
    expect(await on.refused(64, 'usage', 'owners', '--since', '2999-01-01')).toMatch(/--since.*\[USAGE\]$/);
  });
});
