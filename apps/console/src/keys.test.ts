import { beforeAll, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const on = useConsole();
let operator: { authorization: string };
let admin: { authorization: string };
beforeAll(async () => {
  operator = await on.token('operator');
  admin = await on.token('admin');
});

const change = async (name: string, payload: object, headers: object = operator) =>
  (await on.ask({ method: 'POST', url: `/api/${name}`, payload, headers: { ...headers } })).json();
const make = (plan = 'free', headers = operator) =>
  change('keys/create', { application: 'shop', plan, addresses: ['10.0.0.0/8'] }, headers);

test('a key is edited: what is given changes, the rest stays, and the history has both', async () => {
  const { prefix } = await make();
  const expiresAt = '2999-01-31T00:00:00.000Z';
  const edited = await change('keys/set', {
    key: prefix,
    expiresAt,
    origins: ['https://Shop.example.com/'],
    maxLogRange: 500,
  });
  expect(edited).toMatchObject({
    prefix,
    expiresAt,
    origins: ['https://shop.example.com'],
    addresses: ['10.0.0.0/8'],
    maxLogRange: 500,
    plan: 'free',
    lastUsedAt: null,
  });
  expect(edited).not.toHaveProperty('apiKey');
  expect(await change('keys/set', { key: prefix, expiresAt: null, addresses: [] })).toMatchObject({
    expiresAt: null,
    addresses: [],
    origins: ['https://shop.example.com'],
  });
  const [last] = (await on.ask({ url: `/api/changes?subject=key%20${prefix}`, headers: operator })).json()
    .rows;
  expect(last).toMatchObject({
    action: 'set',
    before: { addresses: ['10.0.0.0/8'], expiresAt },
    after: { addresses: [], expiresAt: null },
  });
});

test('an edit is refused if the key changed since it was read, is revoked, or does not fit', async () => {
  const { prefix } = await make();
  await change('keys/set', { key: prefix, maxLogRange: 7 });
  expect(
    await change('keys/set', { key: prefix, maxLogRange: 9, expected: { maxLogRange: null } }),
  ).toMatchObject({
    error: { code: 'CHANGED_MEANWHILE', data: { now: { maxLogRange: 7 } } },
  });
  for (const [given, code] of [
    [{ plan: 'none' }, 'PLAN_UNKNOWN'],
    [{ origins: ['no origin'] }, 'USAGE'],
    [{ expiresAt: '2020-01-01' }, 'INPUT_INVALID'],
    [{ plan: 'unlimited' }, 'ROLE_TOO_LOW'],
  ] as const)
    expect(await change('keys/set', { key: prefix, ...given })).toMatchObject({ error: { code } });
  await change('keys/revoke', { key: prefix });
  for (const name of ['keys/set', 'keys/rotate'])
    expect(await change(name, { key: prefix })).toMatchObject({ error: { code: 'KEY_REVOKED' } });
});

test('a rotated key keeps its prefix; the old secret works as long as it overlaps, and sessions of its holder end', async () => {
  const { apiKey, prefix } = await change('keys/create', { application: 'shop', plan: 'free' });
  const signIn = (key: string) => on.ask({ method: 'POST', url: '/api/sign-in', payload: { key } });
  const cookies = { packhouse_session: String((await signIn(apiKey)).cookies[0]?.value) };
  const rotated = await change('keys/rotate', { key: prefix, overlapHours: 1 });
  expect(rotated).toMatchObject({ prefix, oldSecretUntil: expect.any(String) });
  expect(rotated.apiKey).not.toBe(apiKey);
  for (const key of [apiKey, rotated.apiKey]) expect((await signIn(key)).statusCode).toBe(200);
  const session = async () => (await on.ask({ url: '/api/session', cookies })).statusCode;
  await expect.poll(session, { timeout: 10_000 }).toBe(401);
  await change('keys/rotate', { key: prefix, overlapHours: 0 });
  for (const key of [apiKey, rotated.apiKey]) expect((await signIn(key)).statusCode).toBe(401);
  const { rows } = (await on.ask({ url: `/api/changes?subject=key%20${prefix}`, headers: operator })).json();
  expect(rows.map(({ action }: { action: string }) => action)).toEqual(['rotate', 'rotate', 'create']);
  expect(JSON.stringify(rows)).not.toContain(rotated.apiKey.slice(12));
});

test('only admins edit or rotate keys of an unlimited plan', async () => {
  const { prefix } = await make('unlimited', admin);
  for (const name of ['keys/set', 'keys/rotate']) {
    expect(await change(name, { key: prefix })).toMatchObject({ error: { code: 'ROLE_TOO_LOW' } });
    expect(await change(name, { key: prefix }, admin)).toMatchObject({ prefix });
  }
});

test('the log of a key is turned on by operators and by its holder, and read by nobody else', async () => {
  const { apiKey, id, prefix } = await change('keys/create', { application: 'shop', plan: 'free' });
  const other = await change('keys/create', { application: 'shop', plan: 'free' });
  expect(await change('keys/log', { key: prefix, minutes: 5 })).toMatchObject({
    subject: `key ${prefix}`,
    loggedUntil: expect.any(String),
  });
  const request = {
    network: 'main',
    method: 'eth_call',
    calls: 1,
    status: 200,
    outcome: 'ok',
    ms: 1.5,
    units: 2,
    bytes: 3,
    leftOut: 0,
    params: '["0x1"]',
  };
  await on.database.keyRequests.add([{ keyId: id, at: new Date(), ...request }]);
  const read = async (path: string, cookies: Record<string, string> | null) =>
    (
      await on.ask({ url: `/api/${path}`, ...(cookies === null ? { headers: operator } : { cookies }) })
    ).json();
  const shown = { ...request, params: null };
  expect(await read(`keys/requests?key=${prefix}`, null)).toMatchObject({
    loggedUntil: expect.any(String),
    paramsUntil: null,
    requests: [shown],
  });
  const ofAdmin = await on.ask({ url: `/api/keys/requests?key=${prefix}`, headers: admin });
  expect(ofAdmin.json()).toMatchObject({ requests: [request] });
  const signIn = async (key: string) => {
    const answer = await on.ask({ method: 'POST', url: '/api/sign-in', payload: { key } });
    return { cookies: { packhouse_session: String(answer.cookies[0]?.value) }, csrf: answer.json().csrf };
  };
  const holder = await signIn(apiKey);
  expect(await read('own/requests', holder.cookies)).toMatchObject({ requests: [shown] });
  const ended = await on.ask({
    method: 'POST',
    url: '/api/own/log',
    payload: { minutes: 0 },
    cookies: holder.cookies,
    headers: { 'x-csrf-token': holder.csrf },
  });
  expect(ended.json()).toEqual({ subject: `key ${prefix}`, loggedUntil: null });
  const stranger = await signIn(other.apiKey);
  expect(await read('own/requests', stranger.cookies)).toEqual({
    loggedUntil: null,
    paramsUntil: null,
    requests: [],
  });
  expect(await read(`keys/requests?key=${prefix}`, stranger.cookies)).toMatchObject({
    error: { code: 'ROLE_TOO_LOW' },
  });
  expect(await change('keys/log', { key: prefix, minutes: 1_441 })).toMatchObject({
    error: { code: 'INPUT_INVALID' },
  });
});

test('parameters of one key are logged for a quarter of an hour, if an admin or an owner asks; it is in the audit log', async () => {
  const { prefix } = await change('keys/create', { application: 'asked', plan: 'free' });
  await on.token('owner', 'ada');
  await change('applications/set', { application: 'asked', owner: 'ada' });
  const ask = (given: object, headers: object = admin) =>
    change('keys/log', { key: prefix, minutes: 15, params: true, ...given }, headers);
  expect(await ask({}, operator)).toMatchObject({ error: { code: 'ROLE_TOO_LOW' } });
  for (const given of [{ minutes: 16 }, { key: undefined, application: 'asked' }])
    expect(await ask(given)).toMatchObject({ error: { code: 'INPUT_INVALID' } });
  expect(await on.database.keys.named(prefix)).toMatchObject({ loggedUntil: null, paramsUntil: null });
  expect(await ask({})).toMatchObject({ loggedUntil: expect.any(String) });
  const { loggedUntil, paramsUntil } = (await on.database.keys.named(prefix)) ?? {};
  expect(paramsUntil).toEqual(loggedUntil);
  const { rows } = (await on.ask({ url: `/api/changes?subject=key%20${prefix}`, headers: operator })).json();
  expect(rows[0]).toMatchObject({
    action: 'log with parameters',
    after: { loggedUntil: expect.any(String) },
  });
  await change('keys/log', { key: prefix, minutes: 20 });
  expect(await on.database.keys.named(prefix)).toMatchObject({ paramsUntil: null });
});
