import { expect, test } from 'vitest';
import { jsonLines } from '../testing/run.js';
import { useCommands } from '../testing/use-commands.js';

const on = useCommands();

test('operators are added, listed, changed and removed, and every change is in the history', async () => {
  expect((await on.done('operators', 'list')).out).toMatch(/^No operators/);
  expect((await on.done('operators', 'add', 'ada', '--role', 'admin')).out).toBe(
    'Operator ada added with role admin.\n',
  );
  expect((await on.done('operators', 'link', 'ada')).out).toMatch(
    /^http:\/\/127\.0\.0\.1:8090\/#\/link\/[\w-]{64}\n$/,
  );
  expect((await on.done('operators', 'token', 'ada', '--label', 'ci', '--role', 'viewer')).out).toMatch(
    /^[\w-]{64}\n$/,
  );
  expect((await on.done('operators', 'list')).out).toMatch(/^ada +admin +link +0 +ci$/m);
  expect(
    jsonLines(await on.done('operators', 'drop-tokens', 'ada', '--label', 'ci', '--json')),
  ).toMatchObject([{ dropped: 1 }]);
  expect((await on.done('operators', 'set', 'ada', '--role', 'viewer')).out).toMatch(
    /^Operator ada has role viewer; /,
  );
  expect((await on.done('operators', 'remove', 'ada')).out).toBe('Operator ada removed.\n');
  const changes = await on.database.changes.list({ subject: 'operator ada' });
  expect(changes.map(({ action }) => action)).toEqual([
    'remove',
    'set',
    'drop tokens',
    'token',
    'link',
    'add',
  ]);
  expect(JSON.stringify(changes)).not.toMatch(/sha256|password":"/);
});

test.each([
  [['add', 'x', '--role', 'king'], /--role takes owner, viewer, operator, admin, got "king".*\[USAGE\]$/],
  [['add', '\u0430da', '--role', 'admin'], /The name takes no letters of several scripts, got .*\[USAGE\]$/],
  [
    ['add', 'ada\u200b', '--role', 'admin'],
    /The name takes no invisible character \(U\+200B\), got .*\[USAGE\]$/,
  ],
  [['add', 'x', '--role', 'admin', '--password'], /--password takes 10 to 1024 characters\. \[USAGE\]$/],
  [['set', 'nobody', '--role', 'admin'], /Unknown operator "nobody".*\[OPERATOR_UNKNOWN\]$/],
  [['list', '--server', 'nowhere'], /--server takes the URL of a console, got "nowhere".*\[USAGE\]$/],
])('operators %j is refused', async (args, line) => {
  expect(await on.refused(64, 'operators', ...args)).toMatch(line);
});
