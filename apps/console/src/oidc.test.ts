import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createConsole } from './create-console.js';
import { toOidcOptions } from './oidc-settings.js';
import { consoleSettings } from './settings.js';
import { startOidcProvider, type TestProvider } from './testing/oidc-provider.js';
import { useConsole } from './testing/use-console.js';

const HOST = '127.0.0.1:8090';
const on = useConsole();
let provider: TestProvider;
let app: FastifyInstance;
const ROLES = 'admin=platform;operator=data, daily;viewer=everyone';

const open = (
  env: Record<string, string> = {},
  given: { passwords?: boolean; context?: typeof on.context } = {},
) =>
  createConsole({
    context: on.context,
    database: on.database,
    openJobs: () => Promise.reject(new Error('no jobs')),
    host: '127.0.0.1',
    oidc: toOidcOptions(
      consoleSettings.parse({
        DATABASE_URL: on.databaseUrl,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.client.clientId,
        OIDC_CLIENT_SECRET: provider.client.clientSecret,
        OIDC_ROLES: ROLES,
        ...env,
      }),
    ),
    ...given,
  });

beforeAll(async () => {
  provider = await startOidcProvider(`http://${HOST}`);
  app = await open();
});
afterAll(async () => {
  await app.close();
  await provider.close();
});
beforeEach(() => {
  provider.setSkew(0);
  provider.setPerson('ada', {
    email: 'ada@example.com',
    email_verified: true,
    groups: ['other', 'platform', 'everyone'],
  });
});

/** A browser at a console. */
function browser(at: FastifyInstance = app) {
  const cookies: Record<string, string> = {};
  const get = async (url: string): Promise<LightMyRequestResponse> => {
    const answer = await at.inject({ url, headers: { host: HOST, 'sec-fetch-site': 'cross-site' }, cookies });
    for (const { name, value } of answer.cookies) {
      if (value === '') delete cookies[name];
      else cookies[name] = value;
    }
    return answer;
  };
  return {
    cookies,
    get,
    begin: async () => String((await get('/api/sign-in/oidc')).headers.location),
    back: (url: URL) => get(`${url.pathname}${url.search}`),
    async signIn(): Promise<LightMyRequestResponse> {
      return this.back(await provider.visit(await this.begin()));
    },
    session: async () => (await get('/api/session')).json(),
    problem: async () => (await get('/api/sign-in')).json().oidc.problem,
  };
}
const log = async () =>
  (await on.database.signIns.list({ limit: 1 })).map(({ method, name, address, outcome }) => [
    method,
    name,
    address,
    outcome,
  ])[0];

test('an operator signs in at the provider, with the highest role of his groups; it is in the log', async () => {
  const ada = browser();
  const url = new URL(await ada.begin());
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: `http://${HOST}/api/sign-in/oidc/callback`,
    scope: 'openid profile email',
    state: expect.any(String),
    nonce: expect.any(String),
  });
  const answer = await ada.back(await provider.visit(url.href));
  expect([answer.statusCode, answer.headers.location]).toEqual([302, '/']);
  expect(answer.cookies.find(({ name }) => name === 'packhouse_session')).toMatchObject({
    httpOnly: true,
    sameSite: 'Strict',
  });
  expect(await ada.session()).toMatchObject({ name: 'ada@example.com', role: 'admin' });
  expect(await log()).toEqual(['oidc', 'ada@example.com', '127.0.0.1', 'accepted']);
  expect(await on.database.operators.list()).toMatchObject([
    { name: 'ada@example.com', isOidc: true, hasPassword: false },
  ]);
});

test('the role follows the groups, in open sessions too; without one, sessions and tokens end', async () => {
  const first = browser();
  await first.signIn();
  provider.setPerson('ada', { email: 'ada@example.com', email_verified: true, groups: 'data, daily' });
  const second = browser();
  await second.signIn();
  expect(await second.session()).toMatchObject({ role: 'operator' });
  await expect.poll(first.session, { timeout: 10_000 }).toMatchObject({ role: 'operator' });
  provider.setPerson('ada', { email: 'ada@example.com', email_verified: true, groups: ['other'] });
  const third = browser();
  await third.signIn();
  expect(await third.problem()).toMatchObject({
    code: 'OIDC_NO_ROLE',
    message:
      'ada@example.com is signed in at the provider and has no access here: the provider sends no value of groups that OIDC_ROLES names.',
  });
  expect(await third.session()).toMatchObject({ error: { code: 'SIGN_IN_REQUIRED' } });
  await expect
    .poll(second.session, { timeout: 10_000 })
    .toMatchObject({ error: { code: 'SIGN_IN_REQUIRED' } });
  expect(await log()).toEqual(['oidc', 'ada@example.com', '127.0.0.1', 'OIDC_NO_ROLE']);
  const changes = await on.database.changes.list({ subject: 'operator ada@example.com' });
  expect(changes.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
    'oidc end sessions',
    'oidc set',
    'oidc add',
  ]);
});

test.each([
  [
    'no groups',
    { email: 'ben@example.com', email_verified: true },
    'OIDC_NO_ROLE',
    'the provider sends no claim groups',
  ],
  [
    'groups that are no list',
    { email: 'ben@example.com', email_verified: true, groups: { admin: true } },
    'OIDC_NO_ROLE',
    'no value of groups',
  ],
  ['no name', { groups: ['platform'] }, 'OIDC_REFUSED', 'no name of 1 to 200 characters in the claim email'],
  [
    'a name of 10,000 characters',
    { email: 'x'.repeat(10_000), groups: ['platform'] },
    'OIDC_REFUSED',
    'no name of 1 to 200',
  ],
  [
    'a name with line ends',
    { email: 'a\r\nb', groups: ['platform'] },
    'OIDC_REFUSED',
    'invisible character (U+000D)',
  ],
  [
    'a name that looks like another',
    { email: '\u0430da@example.com', email_verified: true, groups: ['platform'] },
    'OIDC_REFUSED',
    'a name with letters of several scripts in the claim email',
  ],
  [
    'an address that is not verified',
    { email: 'ben@example.com', email_verified: false, groups: ['platform'] },
    'OIDC_REFUSED',
    'without the claim email_verified: true',
  ],
  [
    'an address of which nothing says that it is verified',
    { email: 'ben@example.com', groups: ['platform'] },
    'OIDC_REFUSED',
    'without the claim email_verified: true',
  ],
  [
    'an address that is verified by a word',
    { email: 'ben@example.com', email_verified: 'false', groups: ['platform'] },
    'OIDC_REFUSED',
    'without the claim email_verified: true',
  ],
])('somebody with %s gets no access, and reads why', async (_, claims, code, message) => {
  provider.setPerson('ben', claims);
  const ben = browser();
  await ben.signIn();
  expect(await ben.problem()).toMatchObject({ code, message: expect.stringContaining(message) });
  // It is said once.
  expect(await ben.problem()).toBeNull();
  expect(await ben.session()).toMatchObject({ error: { code: 'SIGN_IN_REQUIRED' } });
  expect((await on.database.operators.list()).map(({ name }) => name)).not.toContain('ben@example.com');
});

test('nobody takes over an operator of the same name', async () => {
  await on.database.operators.add({ name: 'cyd@example.com', role: 'admin', password: null });
  provider.setPerson('cyd', { email: 'cyd@example.com', email_verified: true, groups: ['everyone'] });
  const cyd = browser();
  await cyd.signIn();
  expect(await cyd.problem()).toMatchObject({
    code: 'OIDC_REFUSED',
    message: expect.stringContaining('An operator cyd@example.com exists'),
  });
  // Nor somebody else at the provider with the same address.
  provider.setPerson('eve', { email: 'ada@example.com', email_verified: true, groups: ['platform'] });
  const eve = browser();
  await eve.signIn();
  expect(await eve.problem()).toMatchObject({ code: 'OIDC_REFUSED' });
});

test('a state works once, in the browser that began, for ten minutes', async () => {
  const ada = browser();
  const begun = await ada.begin();
  const kept = { ...ada.cookies };
  const back = await provider.visit(begun);
  // In another browser.
  const other = browser();
  await other.back(back);
  expect(await other.problem()).toMatchObject({
    message: expect.stringContaining('No sign-in is in progress in this browser'),
  });
  // With the cookie of another sign-in.
  const mixed = browser();
  await mixed.begin();
  await mixed.back(back);
  expect(await mixed.problem()).toMatchObject({
    code: 'OIDC_REFUSED',
    message: expect.stringMatching(/state/),
  });
  await ada.back(back);
  expect(await ada.session()).toMatchObject({ role: 'admin' });
  // Again, with everything that the first time had, at another console.
  const second = await open();
  const replay = browser(second);
  Object.assign(replay.cookies, kept);
  await replay.back(back);
  expect(await replay.problem()).toMatchObject({
    code: 'OIDC_REFUSED',
    message: 'This sign-in was used already.',
  });
  expect(await replay.session()).toMatchObject({ error: { code: 'SIGN_IN_REQUIRED' } });
  // Too late.
  const { clock } = on.context;
  const later = { ...on.context, clock: { ...clock, now: () => clock.now() + 601_000 } };
  const patient = browser(await open({}, { context: later }));
  const slow = browser();
  const next = await provider.visit(await slow.begin());
  Object.assign(patient.cookies, slow.cookies);
  await patient.back(next);
  expect(await patient.problem()).toMatchObject({
    message: expect.stringContaining('longer than ten minutes'),
  });
  // Forged.
  const forged = browser();
  forged.cookies.packhouse_oidc = Buffer.from(JSON.stringify({ state: 'x' })).toString('base64url');
  await forged.back(back);
  expect(await forged.problem()).toMatchObject({
    message: expect.stringContaining('No sign-in is in progress'),
  });
  await second.close();
});

test('what the provider refuses is said by its code, not by its text', async () => {
  provider.refuse();
  const ada = browser();
  await ada.signIn();
  const problem = await ada.problem();
  expect(problem).toMatchObject({
    code: 'OIDC_REFUSED',
    message: expect.stringContaining('failed: access_denied.'),
  });
  expect(JSON.stringify(problem)).not.toContain('hostile');
});

test('clocks may differ by a minute, and not by more', async () => {
  provider.setSkew(-100_000);
  const near = browser();
  await near.signIn();
  expect(await near.session()).toMatchObject({ role: 'admin' });
  provider.setSkew(-300_000);
  const far = browser();
  await far.signIn();
  expect(await far.problem()).toMatchObject({
    code: 'OIDC_REFUSED',
    hint: expect.stringContaining('Compare the clocks'),
  });
});

test('a console starts without its provider, says so, and uses it as soon as it is there', async () => {
  const dead = createServer();
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
  const { port } = dead.address() as AddressInfo;
  dead.close();
  const alone = await open({ OIDC_ISSUER: `http://127.0.0.1:${port}` });
  const ada = browser(alone);
  expect((await ada.get('/readyz')).body).toMatch(/^(ok|The pages)/);
  const ways = async () => (await ada.get('/api/sign-in')).json();
  await expect.poll(ways, { timeout: 10_000 }).toMatchObject({
    password: true,
    oidc: { unavailable: expect.stringMatching(/^The OIDC provider http:.* cannot be used: .*ECONNREFUSED/) },
  });
  expect((await ada.get('/api/sign-in/oidc')).headers.location).toBe('/');
  expect(await ada.problem()).toMatchObject({ code: 'OIDC_UNAVAILABLE' });
  const back = await startOidcProvider(`http://${HOST}`, port);
  back.setPerson('gus', { email: 'gus@example.com', email_verified: true, groups: ['everyone'] });
  await ada.back(await back.visit(await ada.begin()));
  expect(await ada.session()).toMatchObject({ name: 'gus@example.com', role: 'viewer' });
  expect(await ways()).toMatchObject({ oidc: { unavailable: null, problem: null } });
  await back.close();
  await alone.close();
});

test('an issuer that names itself otherwise is not used', async () => {
  const wrong = await open({ OIDC_ISSUER: `${provider.issuer.replace('127.0.0.1', 'localhost')}/` });
  const ada = browser(wrong);
  await ada.get('/api/sign-in/oidc');
  expect(await ada.problem()).toMatchObject({
    code: 'OIDC_UNAVAILABLE',
    hint: expect.stringContaining('exactly as the provider writes its issuer'),
  });
  await wrong.close();
});

test('roles may be in a claim inside of another, and a provider may be trusted with everybody', async () => {
  const nested = await open({ OIDC_ROLE_CLAIM: 'realm_access.roles', OIDC_ROLES: 'operator=ops;viewer=*' });
  provider.setPerson('dee', {
    email: 'dee@example.com',
    email_verified: true,
    realm_access: { roles: ['ops'] },
  });
  const dee = browser(nested);
  await dee.signIn();
  expect(await dee.session()).toMatchObject({ name: 'dee@example.com', role: 'operator' });
  provider.setPerson('fay', { email: 'fay@example.com', email_verified: true });
  const fay = browser(nested);
  await fay.signIn();
  expect(await fay.session()).toMatchObject({ name: 'fay@example.com', role: 'viewer' });
  await nested.close();
});

test('passwords can be switched off; refused and accepted sign-ins by other ways are in the log without secrets', async () => {
  const strict = await open({}, { passwords: false });
  const send = (at: FastifyInstance, payload: object) =>
    at.inject({ method: 'POST', url: '/api/sign-in', headers: { host: HOST }, payload });
  expect((await send(strict, { name: 'ada', password: 's3cret-password' })).json()).toMatchObject({
    error: { code: 'SIGN_IN_REFUSED', message: expect.stringContaining('PASSWORD_SIGN_IN=off') },
  });
  expect((await strict.inject({ url: '/api/sign-in', headers: { host: HOST } })).json()).toMatchObject({
    password: false,
  });
  await send(app, { name: 'ada\u001b[2J', password: 's3cret-password' });
  expect(await log()).toEqual(['password', 'ada?[2J', '127.0.0.1', 'SIGN_IN_REFUSED']);
  const before = await on.database.signIns.list({ limit: 1_000 });
  // What is forged costs no query.
  await send(app, { link: 'A'.repeat(64) });
  expect(await on.database.signIns.list({ limit: 1_000 })).toHaveLength(before.length);
  expect(JSON.stringify(before)).not.toContain('s3cret');
  const admin = await on.token('admin');
  const { rows, more } = (await on.ask({ url: '/api/sign-ins?limit=2', headers: admin })).json();
  expect([rows.length, more]).toEqual([2, true]);
  const viewer = await on.ask({ url: '/api/sign-ins', headers: await on.token('viewer') });
  expect(viewer.json()).toMatchObject({ error: { code: 'ROLE_TOO_LOW' } });
  await strict.close();
});

test('settings that do not fit are refused by name', () => {
  const parse = (env: Record<string, string>) =>
    toOidcOptions(consoleSettings.parse({ DATABASE_URL: on.databaseUrl, ...env }));
  expect(() => parse({ OIDC_ISSUER: 'https://login.example.com' })).toThrow('OIDC_CLIENT_ID and OIDC_ROLES');
  for (const issuer of [
    'http://login.example.com',
    'https://a.example/.well-known/openid-configuration',
    'x',
  ])
    expect(() => parse({ OIDC_ISSUER: issuer })).toThrow('OIDC_ISSUER');
  for (const roles of ['root=x', 'admin', 'admin=', ''])
    expect(() => parse({ OIDC_ROLES: roles })).toThrow('OIDC_ROLES');
  expect(() => parse({ OIDC_SCOPE: 'email' })).toThrow('OIDC_SCOPE');
});
