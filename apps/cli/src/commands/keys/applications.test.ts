import { beforeAll, expect, test } from 'vitest';
import { jsonLines } from '../../testing/run.js';
import { useCommands } from '../../testing/use-commands.js';

const on = useCommands();
beforeAll(async () => {
  await on.database.operators.add({ name: 'ada', role: 'owner', password: null });
});

test('an application is created, shown, changed, restricted, archived and restored', async () => {
  const added = await on.done('applications', 'add', 'my shop', '--owner', 'ada', '--contact', '#shop');
  expect(added.out).toBe(
    'Application my shop created. Create a key: packhouse keys create --application "my shop"\n',
  );
  const key = (await on.done('keys', 'create', '--application', 'my shop')).out.slice(0, 11);
  const list = (await on.done('applications', 'list', '--owner', 'ada')).out;
  expect(list).toMatch(
    /^APPLICATION +OWNER +KEYS +LAST USED +STATE +CONTACT\nmy shop +ada +1 +- +active +#shop\n/,
  );
  const set = ['applications', 'set', 'my shop', '--owner', 'any', '--description', 'Sells.'];
  expect((await on.done(...set)).out).toMatch(
    /^Application my shop, 1 live key\n +owner: +-\n +description: +Sells\.\n +contact: +#shop\n +last used: +-\n +state: +active\n$/,
  );
  expect(
    (await on.done('applications', 'restrict', 'my shop', '--address', '10.0.0.0/8', '--max-log-range', '9'))
      .out,
  ).toBe('1 key of my shop restricted.\n');
  expect(jsonLines(await on.done('keys', 'list', '--application', 'my shop', '--json'))).toMatchObject([
    { prefix: key, addresses: ['10.0.0.0/8'], maxLogRange: 9, owner: null },
  ]);
  expect((await on.done('keys', 'log', '--application', 'my shop')).out).toMatch(
    /^Requests of application my shop are logged until .*Z: packhouse keys requests --application "my shop"\n$/,
  );
  expect((await on.done('keys', 'requests', '--application', 'my shop')).out).toMatch(
    /^No logged requests\./,
  );
  expect((await on.done('applications', 'archive', 'my shop')).out).toBe(
    'Application my shop archived, 1 key revoked.\n',
  );
  expect((await on.done('applications', 'list')).out).not.toContain('my shop');
  expect((await on.done('applications', 'list', '--archived')).out).toMatch(/my shop .* archived 20/);
  expect(await on.refused(64, 'keys', 'create', '--application', 'my shop')).toMatch(
    /APPLICATION_ARCHIVED\]$/,
  );
  expect((await on.done('applications', 'restore', 'my shop')).out).toBe(
    'Application my shop is in use again.\n',
  );
  expect(jsonLines(await on.done('applications', 'show', 'my shop', '--json'))).toMatchObject([
    { name: 'my shop', liveKeys: 0, archivedAt: null },
  ]);
});

test.each([
  [
    ['show', 'nobody'],
    /Unknown application "nobody".*`packhouse applications list`.*\[APPLICATION_UNKNOWN\]$/,
  ],
  [['add', 'x', '--owner', 'nobody'], /Unknown account "nobody".*\[OPERATOR_UNKNOWN\]$/],
  [['add', ''], /The name takes a name of 1 to 100 characters.*\[USAGE\]$/],
  [['add', 'a\u202eb'], /The name takes no invisible character \(U\+202E\).*\[USAGE\]$/],
  [['add', '\u0410cme'], /The name takes no letters of several scripts.*\[USAGE\]$/],
  [['add', 'x', '--contact', 'y'.repeat(201)], /--contact takes at most 200 characters.*\[USAGE\]$/],
  [['set', 'nobody'], /No change is given.*\[USAGE\]$/],
])('applications %j is refused', async (args, line) => {
  expect(await on.refused(64, 'applications', ...args)).toMatch(line);
});

test('of a key or an application one is named', async () => {
  expect(await on.refused(64, 'keys', 'log')).toMatch(
    /takes a key or an application, and not both.*\[USAGE\]$/,
  );
});
