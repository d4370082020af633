import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();
const add = (name: string, cron: string, ...more: string[]): string[] => [
  'schedule',
  'add',
  name,
  '--cron',
  cron,
  ...more,
];

test('is added, listed, run, paused, resumed and removed, and its history and changes stay', async () => {
  on.env.PACKHOUSE_OPERATOR = 'ada';
  expect((await on.done('schedule', 'list')).out).toBe('No schedules.\n');
  const made = await on.done(
    ...add('nightly', '30 2 * * *', '--tz', 'Europe/Berlin', '--missed', 'skip', '--owner', 'analytics'),
    ...['--', 'audit', '--sample', '0.01', '--repair'],
  );
  expect(made.out).toMatch(
    /^Schedule nightly added: packhouse audit --sample 0\.01 --repair\. Next run: \S+Z\.\n$/,
  );
  const [row] = jsonLines(await on.done('schedule', 'list', '--json'));
  expect(row).toMatchObject({
    name: 'nightly',
    owner: 'analytics',
    cron: '30 2 * * *',
    zone: 'Europe/Berlin',
    missed: 'skip',
    command: ['audit', '--sample', '0.01', '--repair'],
    setting: null,
    paused: false,
    last: null,
  });
  expect(new Date(row?.next as string).getTime()).toBeGreaterThan(Date.now());

  expect((await on.done('schedule', 'history', 'nightly')).out).toBe('Schedule nightly has no runs yet.\n');
  expect((await on.done('schedule', 'run', 'nightly')).out).toMatch(
    /^Schedule nightly starts within seconds/,
  );
  const due = (await on.database.schedules.list()).schedules[0]?.requestedAt as Date;
  await on.database.schedules.begin('nightly', due, true);
  await on.database.schedules.end('nightly', due, {
    outcome: 'failed',
    exitCode: 2,
    message: 'damage is left',
  });
  expect((await on.done('schedule', 'history', 'nightly')).out).toMatch(/ failed +2 +damage is left\n$/);

  await on.done('schedule', 'pause', 'nightly');
  expect((await on.done('schedule', 'list')).out).toMatch(
    /^nightly +30 2 \* \* \* Europe\/Berlin +paused +failed \S+Z +analytics +audit --sample 0\.01 --repair$/m,
  );
  await on.done('schedule', 'resume', 'nightly');
  await on.done('schedule', 'remove', 'nightly');
  expect(jsonLines(await on.done('schedule', 'history', 'nightly', '--json'))).toMatchObject([
    { outcome: 'failed', exitCode: 2, message: 'damage is left' },
  ]);
  const changes = await on.database.changes.list({ subject: 'schedule nightly' });
  expect(changes.map(({ action, actor }) => `${actor} ${action}`).reverse()).toEqual(
    ['add', 'run', 'pause', 'resume', 'remove'].map((action) => `ada ${action}`),
  );
});

test('of a setting is listed as such, and only its setting ends it', async () => {
  await on.database.schedules.keepOfSetting('AUDIT_EVERY', [
    {
      name: 'audit',
      owner: 'default',
      cron: null,
      zone: null,
      everyMs: 3_600_000,
      missed: 'once',
      command: ['audit', '--sample', '0.001'],
      setting: 'AUDIT_EVERY',
    },
  ]);
  expect((await on.done('schedule', 'list')).out).toMatch(
    /^audit +every 60 min +- +- +AUDIT_EVERY +audit --sample 0\.001$/m,
  );
  await on.done('schedule', 'run', 'audit');
  for (const change of ['pause', 'remove']) {
    expect(await on.refused(64, 'schedule', change, 'audit')).toMatch(
      /The setting AUDIT_EVERY makes.*SCHEDULE_INVALID/,
    );
  }
  expect(await on.refused(64, ...add('audit', '0 3 * * *', '--', 'status'))).toMatch(
    /^The name "audit" is reserved for the setting AUDIT_EVERY\./,
  );
});

test('the lines of docs/operating.md work', async () => {
  const text = await readFile(new URL('../../../../docs/operating.md', import.meta.url), 'utf8');
  const lines = /## Work on a calendar\n\n```sh\n(.*?)```/s.exec(text)?.[1]?.trim().split('\n') ?? [];
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    expect(words.shift()).toBe('packhouse');
    await on.done(...words);
  }
});

test.each([
  [add('x', '0 0 3 * * *', '--', 'audit'), /does not have five fields\..*no seconds and no @reboot/],
  [add('x', '@reboot', '--', 'audit'), /does not have five fields/],
  [add('x', '0 0 30 2 *', '--', 'audit'), /is never due/],
  [add('x', '0 3 * * *', '--tz', 'Mars', '--', 'audit'), /^There is no time zone "Mars"/],
  [add('x', '0 3 * * *', '--missed', 'twice', '--', 'audit'), /^--missed takes once or skip/],
  [add('x', '0 3 * * *', '--owner', 'a b', '--', 'audit'), /^--owner takes/],
  [add('X y', '0 3 * * *', '--', 'audit'), /^The name takes/],
  [
    add('x', '0 3 * * *', '--', 'migrate'),
    /^"packhouse migrate" cannot be scheduled\. .*audit, backfill add/,
  ],
  [
    add('x', '0 3 * * *', '--', 'status', '--server=http://elsewhere'),
    /^A scheduled command takes no --server: .*SCHEDULE_INVALID/,
  ],
  [add('x', '0 3 * * *', '--', 'keys', 'create'), /^"packhouse keys create" cannot be scheduled/],
  [add('x', '0 3 * * *', '--', 'schedule', 'run'), /cannot be scheduled/],
  [['schedule', 'run', 'nobody'], /^Unknown schedule "nobody"\. .*SCHEDULE_UNKNOWN/],
  [['schedule', 'history', 'nobody'], /SCHEDULE_UNKNOWN/],
])('refuses %j', async (args, message) => {
  expect(await on.refused(64, ...args)).toMatch(message);
});
