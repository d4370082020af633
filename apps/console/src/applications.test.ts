import { toDay } from '@packhouse/runtime';
import { beforeAll, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

type Headers = { authorization: string };

const on = useConsole();
let admin: Headers;
let operator: Headers;
let viewer: Headers;
/** Accounts of the role owner. */
let ada: Headers;
let bob: Headers;
beforeAll(async () => {
  [admin, operator, viewer] = [await on.token('admin'), await on.token('operator'), await on.token('viewer')];
  [ada, bob] = [await on.token('owner', 'ada'), await on.token('owner', 'bob')];
});

const read = async (path: string, headers: object = operator) =>
  (await on.ask({ url: `/api/${path}`, headers: { ...headers } })).json();
const change = async (name: string, payload: object, headers: object = operator) =>
  (await on.ask({ method: 'POST', url: `/api/${name}`, payload, headers: { ...headers } })).json();
const code = async (answer: Promise<{ error?: { code: string } }>) => (await answer).error?.code ?? null;
const addKey = (application: string, given: object = {}, headers: object = operator) =>
  change('keys/create', { application, plan: 'free', ...given }, headers);
const count = { network: 'main', method: 'eth_call', requests: 1, units: 5, errors: 0, bytes: 9 };

test('an application is created once, changed, archived with its keys, and restored without them', async () => {
  const made = await change('applications/add', { name: 'shop', owner: 'ada', contact: '#shop' });
  expect(made).toMatchObject({ name: 'shop', owner: 'ada', contact: '#shop', description: '', liveKeys: 0 });
  expect(await change('applications/add', { name: ' shop ' })).toMatchObject({
    error: { code: 'APPLICATION_EXISTS', message: 'Application "shop" exists already and belongs to ada.' },
  });
  const { prefix } = await addKey('shop');
  expect(await read('applications?search=SHO')).toMatchObject({
    rows: [{ name: 'shop', liveKeys: 1, prefixes: [prefix] }],
    more: false,
  });
  const set = { application: 'shop', description: 'Sells.', expected: { description: '' } };
  expect(await change('applications/set', set)).toMatchObject({ description: 'Sells.', owner: 'ada' });
  expect(await code(change('applications/set', set))).toBe('CHANGED_MEANWHILE');
  expect(await change('applications/archive', { application: 'shop' })).toMatchObject({
    revoked: 1,
    liveKeys: 0,
    archivedAt: expect.any(String),
  });
  expect(await code(addKey('shop'))).toBe('APPLICATION_ARCHIVED');
  expect((await read('applications')).rows).toEqual([]);
  expect((await read('applications?archived=true')).rows).toMatchObject([{ name: 'shop' }]);
  expect(await change('applications/archive', { application: 'shop' })).toMatchObject({ revoked: 0 });
  expect(await change('applications/restore', { application: 'shop' })).toMatchObject({ archivedAt: null });
  const { rows } = await read('changes?subject=application');
  expect(rows.map(({ action }: { action: string }) => action)).toEqual(['restore', 'archive', 'set', 'add']);
  expect(await read(`changes?subject=key%20${prefix}`)).toMatchObject({
    rows: [{ action: 'revoke' }, { action: 'create' }],
  });
});

test.each([
  [{ name: '' }, 'INPUT_INVALID'],
  [{ name: 'x'.repeat(101) }, 'INPUT_INVALID'],
  [{ name: 'a\u0000b' }, 'INPUT_INVALID'],
  [{ name: 'b', description: 'x'.repeat(1_001) }, 'INPUT_INVALID'],
  [{ name: 'b', contact: 'x'.repeat(201) }, 'INPUT_INVALID'],
  [{ name: 'b', contact: 'a\nb' }, 'INPUT_INVALID'],
  [{ name: 'b', owner: 'nobody' }, 'OPERATOR_UNKNOWN'],
])('an application %j is refused: %s', async (given, expected) => {
  expect(await code(change('applications/add', given))).toBe(expected);
});

test('usage and logs are those of all keys of an application, and of a key', async () => {
  const [one, two, other] = [await addKey('sums'), await addKey('sums'), await addKey('others')];
  const day = toDay(on.context.clock.now());
  await on.database.usage.add([
    { ...count, keyId: one.id, day },
    { ...count, keyId: two.id, day, method: 'eth_getLogs', network: 'side' },
    { ...count, keyId: other.id, day },
  ]);
  const sum = async (query: string) =>
    (await read(`keys/usage?${query}`)).rows.map((row: { name: string; units: number }) => [
      row.name,
      row.units,
    ]);
  expect(await sum('application=sums&by=method')).toEqual([
    ['eth_call', 5],
    ['eth_getLogs', 5],
  ]);
  expect(await sum(`key=${one.prefix}&by=network`)).toEqual([['main', 5]]);
  expect((await read('keys/usage?application=sums&by=key')).rows).toMatchObject([
    { application: 'sums', units: 5 },
    { application: 'sums', units: 5 },
  ]);
  expect(await read('keys/usage/series?application=sums&since=1d&of=network')).toMatchObject({
    series: [
      { name: 'main', units: [5] },
      { name: 'side', units: [5] },
    ],
  });
  expect(await change('keys/log', { application: 'sums', minutes: 5 })).toMatchObject({
    subject: 'application sums',
    loggedUntil: expect.any(String),
  });
  const request = {
    network: 'main',
    method: 'eth_call',
    calls: 1,
    status: 200,
    outcome: 'ok',
    ms: 1,
    units: 2,
  };
  const at = new Date();
  await on.database.keyRequests.add(
    [one, two, other].map(({ id }) => ({ ...request, bytes: 3, leftOut: 0, params: null, at, keyId: id })),
  );
  const log = await read('keys/requests?application=sums');
  expect(log).toMatchObject({ loggedUntil: expect.any(String) });
  expect(log.requests.map((row: { prefix: string }) => row.prefix)).toEqual([two.prefix, one.prefix]);
  expect(await read(`keys/requests?key=${other.prefix}`)).toMatchObject({ loggedUntil: null });
  for (const query of ['', `?application=sums&key=${one.prefix}`])
    expect(await code(read(`keys/requests${query}`))).toBe('INPUT_INVALID');
  expect(await code(read('keys/usage?application=nobody'))).toBe('APPLICATION_UNKNOWN');
});

test('restrictions are set for all keys at once; an operator does not touch keys of an unlimited plan', async () => {
  const [one, two] = [await addKey('dapp'), await addKey('dapp')];
  expect(
    await change('applications/restrict', { application: 'dapp', origins: ['https://A.example/'] }),
  ).toMatchObject({ application: 'dapp', keys: expect.arrayContaining([one.prefix, two.prefix]) });
  expect((await read('keys?application=dapp')).rows).toMatchObject([
    { origins: ['https://a.example'] },
    { origins: ['https://a.example'] },
  ]);
  const bad = { application: 'dapp', origins: ['no origin'] };
  expect(await code(change('applications/restrict', bad))).toBe('USAGE');
  await addKey('dapp', { plan: 'unlimited' }, admin);
  const wide = { application: 'dapp', origins: [] };
  expect(await code(change('applications/restrict', wide))).toBe('ROLE_TOO_LOW');
  expect((await read('keys?application=dapp')).rows[0].origins).toEqual(['https://a.example']);
  expect((await change('applications/restrict', wide, admin)).keys).toHaveLength(3);
});

test('an owner sees and manages the applications that it owns, and is told of no others', async () => {
  await change('applications/add', { name: 'hers', owner: 'ada' });
  await change('applications/add', { name: 'his', owner: 'bob' });
  const [hers, his] = [await addKey('hers'), await addKey('his')];
  const day = toDay(on.context.clock.now());
  await on.database.usage.add([hers, his].map(({ id }) => ({ ...count, keyId: id, day })));
  const names = async (path: string, field: string, headers: object) =>
    (await read(path, headers)).rows.map((row: Record<string, string>) => row[field]);
  expect(await names('applications', 'name', bob)).toEqual(['his']);
  expect(await names('applications?owner=ada', 'name', bob)).toEqual([]);
  expect(await names('keys', 'prefix', bob)).toEqual([his.prefix]);
  expect(await names('keys/usage?by=key', 'name', bob)).toEqual([his.prefix]);
  const series = (headers: object) => read('keys/usage/series?application=his&since=1d', headers);
  expect(await code(series(operator))).toBeNull();
  expect(await code(series(ada))).toBe('APPLICATION_UNKNOWN');
  const others = { application: 'hers' };
  const refused = [
    read('applications/show?application=hers', bob),
    read('keys?application=hers', bob),
    read('keys/usage?application=hers', bob),
    read('keys/requests?application=hers', bob),
    change('applications/set', { ...others, contact: 'x' }, bob),
    change('applications/restrict', { ...others, origins: [] }, bob),
    change('applications/archive', others, bob),
    change('keys/log', others, bob),
  ].map(code);
  expect(new Set(await Promise.all(refused))).toEqual(new Set(['APPLICATION_UNKNOWN']));
  const key = { key: hers.prefix };
  const ofKey = [
    read(`keys/usage?key=${hers.prefix}`, bob),
    read(`keys/usage/series?key=${hers.prefix}`, bob),
    read(`keys/requests?key=${hers.prefix}`, bob),
    change('keys/set', { ...key, origins: [] }, bob),
    change('keys/rotate', key, bob),
    change('keys/revoke', key, bob),
    change('keys/log', key, bob),
  ].map(code);
  expect(new Set(await Promise.all(ofKey))).toEqual(new Set(['KEY_UNKNOWN']));
  expect(await read(`keys?search=${hers.prefix}`)).toMatchObject({
    rows: [{ revokedAt: null, origins: [] }],
  });

  expect(await change('applications/set', { ...others, contact: 'me' }, ada)).toMatchObject({
    contact: 'me',
  });
  expect(await code(change('applications/set', { ...others, owner: 'bob' }, ada))).toBe('ROLE_TOO_LOW');
  expect(await change('keys/set', { ...key, origins: ['https://a.example'] }, ada)).toMatchObject({
    origins: ['https://a.example'],
  });
  for (const wider of [
    { plan: 'standard' },
    { methods: [] },
    { contracts: [] },
    { network: null },
    { expiresAt: null },
  ])
    expect(await code(change('keys/set', { ...key, ...wider }, ada)), JSON.stringify(wider)).toBe(
      'ROLE_TOO_LOW',
    );
  expect(await code(change('applications/restrict', { ...others, methods: [] }, ada))).toBe('ROLE_TOO_LOW');
  expect(await change('keys/rotate', key, ada)).toMatchObject({
    apiKey: expect.stringContaining(hers.prefix),
  });
  expect(await code(change('keys/log', key, ada))).toBeNull();
  expect(await code(read(`keys/requests?key=${hers.prefix}`, ada))).toBeNull();
  expect(await change('applications/archive', others, ada)).toMatchObject({ revoked: 1 });
  for (const path of [
    'overview',
    'plans',
    'operators',
    'history?key=x',
    'changes',
    'sign-ins',
    'events?topics=alarms',
  ])
    expect(await code(read(path, ada)), path).toBe('ROLE_TOO_LOW');
  for (const [name, input] of [
    ['applications/add', { name: 'new' }],
    ['applications/restore', others],
    ['keys/create', { application: 'hers' }],
  ] as const)
    expect(await code(change(name, input, ada)), name).toBe('ROLE_TOO_LOW');
});

test('a viewer reads applications and changes none; a key that signed in sees itself', async () => {
  await change('applications/add', { name: 'seen', owner: 'ada' });
  const { apiKey } = await addKey('seen');
  expect(await read('applications/show?application=seen', viewer)).toMatchObject({ liveKeys: 1 });
  const changes = [
    ['applications/add', { name: 'new' }],
    ['applications/set', { application: 'seen', contact: 'x' }],
    ['applications/restrict', { application: 'seen', origins: [] }],
    ['applications/archive', { application: 'seen' }],
    ['applications/restore', { application: 'seen' }],
    ['keys/log', { application: 'seen' }],
  ] as const;
  for (const [name, input] of changes)
    expect(await code(change(name, input, viewer)), name).toBe('ROLE_TOO_LOW');
  expect(await code(read('keys/requests?application=seen', viewer))).toBe('ROLE_TOO_LOW');
  const signedIn = await on.ask({ method: 'POST', url: '/api/sign-in', payload: { key: apiKey } });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
  expect(await read('session', { cookie })).toMatchObject({ role: 'owner', isKey: true });
  expect(await read('session', ada)).toMatchObject({ name: 'ada', role: 'owner', isKey: false });
  for (const path of [
    'applications',
    'applications/show?application=seen',
    'keys',
    'keys/requests?application=seen',
  ])
    expect(await code(read(path, { cookie })), path).toBe('ROLE_TOO_LOW');
  for (const [name, input] of changes)
    expect(await code(change(name, input, { cookie, 'x-csrf-token': signedIn.json().csrf })), name).toBe(
      'ROLE_TOO_LOW',
    );
});
