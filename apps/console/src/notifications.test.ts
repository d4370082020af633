import { beforeAll, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const on = useConsole();
const SLACK = 'https://hooks.slack.example/services/T0/s3cret';

let operator: { authorization: string };
beforeAll(async () => {
  for (const id of ['main', 'side']) await on.database.networks.register({ id, chainId: 1 });
  operator = await on.token('operator');
});

const read = async (name: string, headers: object = operator) =>
  (await on.ask({ url: `/api/${name}`, headers: { ...headers } })).json();
const change = async (name: string, payload: object, headers: object = operator) =>
  (await on.ask({ method: 'POST', url: `/api/${name}`, payload, headers: { ...headers } })).json();

test('a channel is added, paused, tested and removed; its address is in no answer and no history', async () => {
  const added = await change('notifications/add', {
    kind: 'slack',
    url: SLACK,
    networks: ['main', 'main'],
    quiet: ['22:00-07:00  Europe/Berlin'],
  });
  const { id } = added;
  expect(added).toMatchObject({
    kind: 'slack',
    host: 'hooks.slack.example',
    networks: ['main'],
    quiet: ['22:00-07:00 Europe/Berlin'],
    severity: 'warning',
    state: 'active',
    secret: null,
  });
  expect(await change('notifications/state', { id, state: 'paused' })).toMatchObject({ state: 'paused' });
  expect(await change('notifications/test', { id })).toEqual({ id });
  const shown = [await read('notifications'), await read(`notifications/show?id=${id}`)];
  expect(shown).toMatchObject([[{ id, state: 'paused' }], { id }]);
  expect(await change('notifications/remove', { id })).toEqual({ id });
  expect(await change('notifications/remove', { id })).toMatchObject({
    error: { code: 'NOTIFICATION_UNKNOWN' },
  });
  const { rows } = await read(`changes?subject=notification%20${id}`);
  expect(rows.map(({ action, actor }: { action: string; actor: string }) => [action, actor])).toEqual([
    ['remove', 'test 1'],
    ['pause', 'test 1'],
    ['add', 'test 1'],
  ]);
  expect(JSON.stringify([added, shown, rows])).not.toContain('s3cret');
});

test('the secret of a webhook is shown once', async () => {
  const added = await change('notifications/add', { kind: 'webhook', url: 'https://example.com/in' });
  expect(added.secret).toMatch(/^whsec_/);
  expect(JSON.stringify(await read('notifications'))).not.toContain(added.secret);
});

test.each([
  [{ kind: 'fax', url: SLACK }, 'kind: takes webhook, slack or email'],
  [{ kind: 'slack' }, 'takes a URL, and no recipients'],
  [{ kind: 'slack', url: 'ftp://s3cret' }, 'begins with https:// or http://'],
  [{ kind: 'slack', url: 'https://ada:s3cret@example.com' }, 'has a user, a password or a fragment'],
  [{ kind: 'email', url: SLACK, recipients: ['ada@example.com'] }, 'takes recipients, and no URL'],
  [{ kind: 'email' }, 'takes recipients, and no URL'],
  [{ kind: 'email', recipients: ['ada@example.com\r\nBcc: s3cret@example.com'] }, 'takes addresses such as'],
  [{ kind: 'email', recipients: ['ada@example.com,ben@example.com'] }, 'takes addresses such as'],
  [{ kind: 'email', recipients: ['x'.repeat(300)] }, 'recipients.0'],
  [{ kind: 'slack', url: `https://example.com/${'x'.repeat(2_000)}` }, 'url: '],
  [{ kind: 'slack', url: SLACK, networks: ['other'] }, 'Unknown network "other".'],
  [{ kind: 'slack', url: SLACK, names: ['standstill'] }, 'takes names such as STANDSTILL'],
  [{ kind: 'slack', url: SLACK, quiet: ['22:00-07:00 Europe/Atlantis'] }, 'no time zone "Europe/Atlantis"'],
])('%j is refused with its reason, and without the address', async (payload, reason) => {
  const { error } = await change('notifications/add', payload);
  expect(error.message).toContain(reason);
  expect(JSON.stringify(error)).not.toContain('s3cret');
});

test('a viewer sees no channel, and changes none', async () => {
  const viewer = await on.token('viewer');
  expect(await read('notifications', viewer)).toMatchObject({ error: { code: 'ROLE_TOO_LOW' } });
  const refused = await change('notifications/add', { kind: 'slack', url: SLACK }, viewer);
  expect(refused).toMatchObject({ error: { code: 'ROLE_TOO_LOW' } });
});
