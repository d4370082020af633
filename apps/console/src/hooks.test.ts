import { beforeAll, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const on = useConsole();
const URL_OF = 'https://hooks.example/path-is-a-secret?token=t0ken';
const ACCOUNT = '0xDAC17F958D2ee523a2206206994597C13D831ec7';

let operator: { authorization: string };
beforeAll(async () => {
  for (const id of ['main', 'side']) await on.database.networks.register({ id, chainId: 1 });
  await on.database.network('main').head.set({ number: 99, hash: `0x${'0'.repeat(64)}`, finalized: 79 });
  operator = await on.token('operator');
});

const read = async (name: string, headers: object = operator) =>
  (await on.ask({ url: `/api/${name}`, headers: { ...headers } })).json();
const change = async (name: string, payload: object, headers: object = operator) =>
  (await on.ask({ method: 'POST', url: `/api/${name}`, payload, headers: { ...headers } })).json();

test('a webhook is added with a secret that is shown once, changed, and removed; the history has neither', async () => {
  const added = await change('hooks/add', {
    url: URL_OF,
    network: 'main',
    kinds: ['logs'],
    addresses: [ACCOUNT, ACCOUNT.toLowerCase()],
  });
  const { id, secret } = added;
  expect(added).toMatchObject({
    secret: expect.stringMatching(/^whsec_/),
    from: 100,
    state: 'active',
    addresses: [ACCOUNT.toLowerCase()],
  });
  expect(await read('hooks')).toMatchObject({ rows: [{ id, url: URL_OF, network: 'main' }], more: false });
  const rotated = await change('hooks/rotate', { id });
  expect(rotated.secret).not.toBe(secret);
  expect(rotated.oldSecretUntil).toEqual(expect.any(String));
  expect(await change('hooks/state', { id, state: 'paused' })).toMatchObject({ id, state: 'paused' });
  expect(await change('hooks/state', { id, state: 'active' })).toMatchObject({ state: 'active' });
  expect(await change('hooks/test', { id })).toEqual({ id });
  const shown = await read(`hooks/show?id=${id}`);
  for (const each of [secret, rotated.secret]) expect(JSON.stringify(shown)).not.toContain(each.slice(6));
  expect(await change('hooks/remove', { id })).toEqual({ id });

  const log = await read('changes?subject=hook');
  expect(log.rows.map(({ action }: { action: string }) => action)).toEqual([
    'remove',
    'resume',
    'pause',
    'rotate',
    'add',
  ]);
  expect(log.rows[0].before).toMatchObject({ host: 'hooks.example', kinds: ['logs'] });
  const text = JSON.stringify(log);
  for (const each of ['path-is', 't0ken', secret.slice(6), rotated.secret.slice(6)])
    expect(text).not.toContain(each);
});

test('a webhook is changed in place, and goes on where it is', async () => {
  const { id } = await change('hooks/add', { url: URL_OF, network: 'main', kinds: ['blocks'], from: 7 });
  const expected = { url: URL_OF, kinds: ['blocks'] };
  const set = { id, url: `${URL_OF}-2`, kinds: ['logs'], addresses: [ACCOUNT], expected };
  expect(await change('hooks/set', set)).toMatchObject({
    id,
    url: `${URL_OF}-2`,
    kinds: ['logs'],
    addresses: [ACCOUNT.toLowerCase()],
    from: 7,
  });
  expect((await change('hooks/set', set)).error.code).toBe('CHANGED_MEANWHILE');
  expect(await change('hooks/set', { id, addresses: [] })).toMatchObject({ kinds: ['logs'], addresses: [] });
  for (const [given, message] of [
    [{ url: 'nowhere' }, /begins with https/],
    [{ kinds: ['blocks'], topics: [`0x${'1'.repeat(64)}`] }, /is sent logs/],
    [{ kinds: [] }, /kinds/],
  ] as const) {
    expect((await change('hooks/set', { id, ...given })).error.message).toMatch(message);
  }
  const { rows } = await read(`changes?subject=hook%20${id}`);
  expect(rows.map(({ action, after }: { action: string; after: object }) => [action, after])).toMatchObject([
    ['set', { addresses: [] }],
    ['set', { host: 'hooks.example', address: 'changed', kinds: ['logs'] }],
    ['add', {}],
  ]);
  expect(JSON.stringify(rows)).not.toContain('path-is');
});

test('viewers neither see nor change webhooks', async () => {
  const viewer = await on.token('viewer');
  expect((await read('hooks', viewer)).error.code).toBe('ROLE_TOO_LOW');
  const refused = await change('hooks/add', { url: URL_OF, network: 'main', kinds: ['logs'] }, viewer);
  expect(refused.error.code).toBe('ROLE_TOO_LOW');
});

test.each([
  [{ url: 'ftp://hooks.example/' }, 'HOOK_INVALID', /begins with https/],
  [{ url: 'nowhere' }, 'HOOK_INVALID', /begins with https/],
  [{ url: 'https://user:pass@hooks.example/' }, 'HOOK_INVALID', /a user, a password/],
  [{ url: `https://hooks.example/${'x'.repeat(2_000)}` }, 'INPUT_INVALID', /url/],
  [{ kinds: ['blocks'], topics: [`0x${'1'.repeat(64)}`] }, 'HOOK_INVALID', /is sent logs/],
  [{ kinds: ['blobs'] }, 'INPUT_INVALID', /kinds/],
  [{ kinds: [] }, 'INPUT_INVALID', /kinds/],
  [{ addresses: ['0x12'] }, 'INPUT_INVALID', /40 hex digits/],
  [{ network: 'elsewhere' }, 'NETWORK_UNKNOWN', /elsewhere/],
])('%j is refused', async (given, code, message) => {
  const refused = await change('hooks/add', { url: URL_OF, network: 'main', kinds: ['logs'], ...given });
  expect(refused.error).toMatchObject({ code, message: expect.stringMatching(message) });
});

test('an unknown webhook is refused by each change', async () => {
  for (const [name, input] of [
    ['hooks/state', { id: 999, state: 'paused' }],
    ['hooks/set', { id: 999, kinds: ['logs'] }],
    ['hooks/rotate', { id: 999 }],
    ['hooks/test', { id: 999 }],
    ['hooks/remove', { id: 999 }],
  ] as const) {
    expect((await change(name, input)).error.code).toBe('HOOK_UNKNOWN');
  }
});
