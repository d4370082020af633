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

test('a channel is changed in place; a change that another operator made first is not overwritten', async () => {
  const { id } = await change('notifications/add', { kind: 'slack', url: SLACK, networks: ['main'] });
  const expected = { networks: ['main'], severity: 'warning' };
  const set = { id, url: 'https://other.example/s3cret2', networks: [], quiet: ['Sat,Sun UTC'], expected };
  const changed = await change('notifications/set', set);
  expect(changed).toMatchObject({ host: 'other.example', networks: [], quiet: ['Sat,Sun UTC'] });
  expect(await change('notifications/set', { ...set, severity: 'critical' })).toMatchObject({
    error: { code: 'CHANGED_MEANWHILE' },
  });
  expect(await change('notifications/set', { id, severity: 'critical' })).toMatchObject({
    host: 'other.example',
    quiet: ['Sat,Sun UTC'],
    severity: 'critical',
  });
  const { rows } = await read(`changes?subject=notification%20${id}`);
  expect(rows[1].after).toMatchObject({ host: 'other.example', address: 'changed' });
  expect(rows[0].after.address).toBeUndefined();
  expect(JSON.stringify([changed, rows])).not.toContain('s3cret');
  for (const [given, reason] of [
    [{ recipients: ['ada@example.com'] }, 'takes a URL, and no recipients'],
    [{ url: 'ftp://s3cret' }, 'begins with https:// or http://'],
    [{ networks: ['other'] }, 'Unknown network "other".'],
    [{ quiet: ['never'] }, 'The window "never" cannot be used'],
  ] as const) {
    const { error } = await change('notifications/set', { id, ...given });
    expect(error.message).toContain(reason);
    expect(JSON.stringify(error)).not.toContain('s3cret');
  }
  expect(await change('notifications/set', { id: 999, names: [] })).toMatchObject({
    error: { code: 'NOTIFICATION_UNKNOWN' },
  });
});

test('who adds or changes a channel of e-mail is told if packers have no SMTP server', async () => {
  const beat = (id: number, sendsMail: boolean) =>
    on.database.workers.heartbeat({
      id: `0000000${id}-0000-4000-8000-000000000000`,
      role: 'packer',
      host: 'here',
      pid: id,
      networks: [],
      networksDigest: '',
      networksProblem: null,
      slots: 1,
      jobs: [],
      sendsMail,
    });
  const added = await change('notifications/add', { kind: 'email', recipients: ['ada@example.com'] });
  expect(added.hint).toContain('No packer runs now');
  const hint = async () => (await change('notifications/set', { id: added.id, names: [] })).hint;
  await beat(1, false);
  expect(await hint()).toContain('No packer has an SMTP server');
  await beat(2, true);
  expect(await hint()).toContain('1 of 2 packers have no SMTP server');
  await on.database.workers.leave('00000001-0000-4000-8000-000000000000');
  expect(await hint()).toBeNull();
});

test('the secret of a webhook is shown once, also when it is rotated', async () => {
  const added = await change('notifications/add', { kind: 'webhook', url: 'https://example.com/in' });
  expect(added.secret).toMatch(/^whsec_/);
  const rotated = await change('notifications/rotate', { id: added.id, overlapHours: 2 });
  expect(rotated).toMatchObject({
    secret: expect.stringMatching(/^whsec_/),
    oldSecretUntil: expect.any(String),
  });
  expect(rotated.secret).not.toBe(added.secret);
  const all = JSON.stringify([await read('notifications'), await read('changes?subject=notification')]);
  for (const { secret } of [added, rotated]) expect(all).not.toContain(secret);
  const mail = await change('notifications/add', { kind: 'slack', url: SLACK });
  expect(await change('notifications/rotate', { id: mail.id })).toMatchObject({
    error: { code: 'NOTIFICATION_INVALID' },
  });
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
