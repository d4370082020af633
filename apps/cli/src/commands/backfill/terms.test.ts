import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();
beforeAll(async () => {
  on.env.PACKHOUSE_OPERATOR = 'ada';
  await on.database.networks.register({ id: 'main', chainId: 1 });
});
const add = ['backfill', 'add', '--network', 'main', '--from', '0'];

test('the lines of docs/operating.md about owners work', async () => {
  const operating = await readFile(new URL('../../../../../docs/operating.md', import.meta.url), 'utf8');
  const [, script = ''] = /## Several owners[^`]*```sh\n(.*?)```/s.exec(operating) ?? [];
  await on.database.networks.register({ id: 'ethereum', chainId: 2 });
  const lines = script.trim().split('\n');
  expect(lines.length).toBe(5);
  let first: string | undefined;
  for (const line of lines) {
    const [packhouse, ...words] = [...line.matchAll(/"([^"]*)"|\S+/g)].map(
      ([word, quoted]) => quoted ?? word,
    );
    expect(packhouse).toBe('packhouse');
    // The first backfill of these, whatever its number is here.
    if (words[2] === '1') words[2] = String(first);
    const { out } = await on.done(...words);
    first ??= /\d+/.exec(out)?.[0];
  }
  expect(await on.database.backfills.find(Number(first))).toMatchObject({
    owner: 'analytics',
    priority: 10,
    windows: [],
  });
});

describe('terms of a backfill', () => {
  test('are given with it, changed one by one, and taken away', async () => {
    const { out } = await on.done(
      ...[...add, '--to', '999', '--kinds', 'logs', '--owner', 'analytics', '--weight', '3'],
      ...['--window', 'Mon-Fri 20:00-06:00 Europe/Berlin', '--window', 'Sat,Sun'],
      ...['--deadline', '2999-12-24', '--max-requests', '5M'],
    );
    expect(out).toMatch(
      /^Backfill \d+ added: main 0 to 999, logs, priority 100, owner analytics, weight 3, within Mon-Fri 20:00-06:00 Europe\/Berlin or Sat,Sun UTC, deadline 2999-12-25T00:00:00.000Z, at most 5,000,000 requests\.$/m,
    );
    const id = String(/\d+/.exec(out)?.[0]);
    expect((await on.done('backfill', 'list')).out).toMatch(/logs +100 +analytics +3 +active$/m);
    expect((await on.done('backfill', 'set', id, '--priority', '10', '--window', 'none')).out).toMatch(
      new RegExp(
        `^Backfill ${id} changed \\(priority 100 -> 10, windows Mon-Fri 20:00-06:00 Europe/Berlin or Sat,Sun UTC -> none\\): main 0 to 999, logs, priority 10, owner analytics, weight 3, deadline `,
      ),
    );
    const rest = ['--weight', '1', '--owner', 'default', '--deadline', 'none', '--max-requests', 'none'];
    expect(jsonLines(await on.done('backfill', 'set', id, ...rest, '--json'))).toMatchObject([
      { priority: 10, owner: 'default', weight: 1, windows: [], deadline: null, maxRequests: null },
    ]);
    expect((await on.done('backfill', 'set', id, '--weight', '1')).out).toMatch(/ unchanged: /);
    const changes = await on.database.changes.list({ subject: `backfill ${id}` });
    expect(changes.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      'ada set',
      'ada set',
      'ada set',
      'ada add',
    ]);
    expect(changes[2]).toMatchObject({
      before: { priority: 100, deadline: '2999-12-25T00:00:00.000Z' },
      after: { priority: 10, windows: [] },
    });
  });

  test.each([
    [['--window', '08:00-08:00'], /never opens.*\[WINDOW_INVALID\]$/],
    [['--window', 'Mon 08:00-09:00 Mars/Olympus'], /no time zone "Mars\/Olympus".*\[WINDOW_INVALID\]$/],
    [['--window', 'Sat', '--window', 'none'], /--window none excludes any other --window\. \[USAGE\]$/],
    [['--owner', 'The Boss'], /--owner takes .*"The Boss".*\[USAGE\]$/],
    [['--weight', '0'], /--weight takes .*1 to 1000.*\[USAGE\]$/],
    [['--deadline', '2020-01-01'], /--deadline takes a date in the future.*\[USAGE\]$/],
    [['--deadline', '2999-02-30'], /--deadline takes a date.*\[USAGE\]$/],
    [['--deadline', '2999-12-24 18:00'], /--deadline takes a date.*\[USAGE\]$/],
    [['--deadline', '2999-12-24T18:00'], /--deadline takes a date.*\[USAGE\]$/],
    [['--deadline', 'soon'], /--deadline takes a date.*\[USAGE\]$/],
    [['--max-requests', '0'], /--max-requests takes .*"0".*\[USAGE\]$/],
    [['--max-requests', '1.5'], /--max-requests takes .*"1.5".*\[USAGE\]$/],
    [['--max-requests', '5T'], /--max-requests takes .*"5T".*\[USAGE\]$/],
    [['--deadline', '2999-12-24', '--to', 'follow'], /A deadline needs a last block.*\[USAGE\]$/],
    [['--max-requests', '3k', '--to', 'follow'], /A limit of requests needs a last block.*\[USAGE\]$/],
  ])('%j are refused', async (options, line) => {
    expect(await on.refused(64, ...add, '--to', '9', ...options)).toMatch(line);
  });

  test('that do not fit a backfill leave it as it was', async () => {
    const [row] = jsonLines(await on.done(...add, '--window', 'Sat', '--json'));
    const set = ['backfill', 'set', String(row?.id)];
    expect(await on.refused(64, ...set, '--deadline', '2999-12-24')).toMatch(/needs a last block/);
    expect(await on.refused(64, ...set)).toMatch(/No change is given.*\[USAGE\]$/);
    expect(await on.refused(64, 'backfill', 'set', '999999', '--weight', '2')).toMatch(/BACKFILL_UNKNOWN/);
    expect(await on.database.backfills.find(Number(row?.id))).toMatchObject({
      deadline: null,
      windows: ['Sat UTC'],
    });
  });
});
