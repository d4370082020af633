import { addOperator, getHash, makeLink, makeSecret, makeToken, setOperator } from '@packhouse/operations';
import { describe, expect, test, vi } from 'vitest';
import { createConsole } from './create-console.js';
import { useConsole } from './testing/use-console.js';

// The first lock is a second: a slow check of a password would outlast it.
const on = useConsole({ stopTime: true });
const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  on.ask({ method: 'POST', url, payload, headers });

describe('signing in', () => {
  test('by a link, once: then the session may change things with its CSRF token only', async () => {
    const operator = await on.database.operators.add({ name: 'ada', role: 'operator', password: null });
    const link = makeSecret(await on.database.operators.seal());
    const secret = { kind: 'link', operatorId: operator?.id ?? 0, keyId: null, role: 'operator' } as const;
    await on.database.operators.keep({ sha256: getHash(link), ...secret, forMs: 600_000 });
    expect(
      (await on.ask({ url: `/api/alarms`, headers: { authorization: `Bearer ${link}` } })).statusCode,
    ).toBe(401);

    const signedIn = await post('/api/sign-in', { link });
    expect(signedIn.json()).toMatchObject({ name: 'ada', role: 'operator' });
    expect(signedIn.headers['set-cookie']).toMatch(/HttpOnly; SameSite=Strict/);
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    expect((await post('/api/sign-in', { link })).json()).toMatchObject({
      error: { code: 'SIGN_IN_REFUSED' },
    });

    const { csrf } = (await on.ask({ url: '/api/session', headers: { cookie } })).json();
    const clear = { network: 'main', name: 'NONE' };
    expect((await post('/api/alarms/clear', clear, { cookie })).json()).toMatchObject({
      error: { code: 'CSRF_REFUSED' },
    });
    const elsewhere = { cookie, 'x-csrf-token': csrf, origin: 'https://evil.example' };
    expect((await post('/api/alarms/clear', clear, elsewhere)).json()).toMatchObject({
      error: { code: 'CSRF_REFUSED' },
    });
    expect((await post('/api/alarms/clear', clear, { cookie, 'x-csrf-token': csrf })).json()).toMatchObject({
      error: { code: 'ALARM_UNKNOWN' },
    });

    expect((await post('/api/sign-out', {}, { cookie, 'x-csrf-token': csrf })).statusCode).toBe(200);
    expect((await on.ask({ url: '/api/session', headers: { cookie } })).json()).toMatchObject({
      error: { code: 'SIGN_IN_REQUIRED' },
    });
  });

  test('by name and password; after five failures it is locked for a while, whoever asks', async () => {
    const password = 'correct horse';
    await addOperator.run(
      { context: on.context, database: on.database, actor: 'test' },
      { name: 'grace', role: 'admin', password },
    );
    expect((await post('/api/sign-in', { name: 'grace', password })).json()).toMatchObject({ role: 'admin' });
    for (let failure = 0; failure < 5; failure++) {
      const wrong = await post('/api/sign-in', { name: 'grace', password: 'wrong' });
      expect(wrong.json()).toMatchObject({ error: { code: 'SIGN_IN_REFUSED' } });
    }
    const locked = await post('/api/sign-in', { name: 'grace', password });
    expect(locked.statusCode).toBe(429);
    expect(locked.headers['retry-after']).toBe('1');
    await on.database.operators.succeeded(['name grace', 'address 127.0.0.1']);
  });

  test('by a password: wrong ones of strangers do not keep out a browser that was signed in before', async () => {
    const password = 'correct horse';
    const parts = { context: on.context, database: on.database, actor: 'test' };
    await addOperator.run(parts, { name: 'mary', role: 'viewer', password });
    const first = await post('/api/sign-in', { name: 'mary', password });
    const known = first.cookies.find(({ name }) => name === 'packhouse_known');
    expect(known).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/api/sign-in' });
    const subjects = ['name mary', 'address 127.0.0.1'];
    for (let failure = 0; failure < 5; failure++) await on.database.operators.attempt(subjects);

    expect((await post('/api/sign-in', { name: 'mary', password })).statusCode).toBe(429);
    const cookie = `packhouse_known=${known?.value}`;
    expect((await post('/api/sign-in', { name: 'mary', password }, { cookie })).statusCode).toBe(200);
    const grace = await post('/api/sign-in', { name: 'grace', password }, { cookie });
    expect(grace.statusCode).toBe(429);

    const { link } = await makeLink.run(parts, { name: 'mary' });
    expect((await post('/api/sign-in', { link })).statusCode).toBe(200);
    await on.database.operators.succeeded(subjects);
  });

  test('of concurrent attempts no more are heard than the free ones', async () => {
    const heard = await Promise.all(
      Array.from({ length: 20 }, () => on.database.operators.attempt(['name nobody'])),
    );
    expect(heard.filter(Boolean)).toHaveLength(5);
    expect(await on.database.operators.lockedMs(['name nobody'])).toBeGreaterThan(0);
  });

  test('of a flood from many networks a few passwords are checked, and the others cost no query', async () => {
    const parts = { context: on.context, database: on.database, openJobs: () => Promise.reject(new Error()) };
    const app = await createConsole({ ...parts, host: '127.0.0.1', trustProxy: 1 });
    const queries = [vi.spyOn(on.database.operators, 'find'), vi.spyOn(on.database.operators, 'lockedMs')];
    const attempt = async (address: string, name: string, cookie = ''): Promise<number> => {
      const headers = { host: '127.0.0.1:8090', 'x-forwarded-for': address, cookie };
      const payload = { name, password: 'wrong password' };
      return (await app.inject({ method: 'POST', url: '/api/sign-in', headers, payload })).statusCode;
    };
    const flood = await Promise.all(
      Array.from({ length: 64 }, (_, at) => attempt(`198.18.${at}.1`, `many ${at}`)),
    );
    // 8 have a place in the queue of checks; the others are refused before anything is read.
    expect(flood.filter((status) => status === 401)).toHaveLength(8);
    expect(flood.filter((status) => status === 429)).toHaveLength(56);
    expect(queries.map(({ mock }) => mock.calls.length)).toEqual([8, 8]);

    // One address, then its network, and then one name from many networks.
    const statuses = async (count: number, address: (at: number) => string, name: (at: number) => string) => {
      const seen: number[] = [];
      for (let at = 0; at < count; at++) seen.push(await attempt(address(at), name(at)));
      return seen;
    };
    await on.database.operators.succeeded(['address 2001:db8:1:2']);
    const ofAddress = await statuses(
      8,
      (at) => `2001:db8:1:2::${at}`,
      (at) => `v6 ${at}`,
    );
    expect(ofAddress).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    vi.restoreAllMocks();
    await app.close();
  });

  test('refused sign-ins are counted by their code, requests that cannot be read are not', async () => {
    const count = async (code: string): Promise<number> => {
      const text = await on.context.metrics.render();
      const line = new RegExp(`^packhouse_console_sign_ins_refused_total\\{code="${code}"\\} (\\d+)$`, 'm');
      return Number(line.exec(text)?.[1] ?? 0);
    };
    const counts = () => Promise.all(['SIGN_IN_REFUSED', 'SIGN_IN_LOCKED', 'INPUT_INVALID'].map(count));
    const [refused = 0, locked = 0] = await counts();
    expect((await post('/api/sign-in', { link: 'x' })).statusCode).toBe(401);
    expect((await post('/api/sign-in', { name: 'nobody' })).statusCode).toBe(400);
    expect(await counts()).toEqual([refused + 1, locked, 0]);
    const attempt = vi.spyOn(on.database.operators, 'attempt').mockResolvedValue(false);
    expect((await post('/api/sign-in', { name: 'nobody', password: 'wrong' })).statusCode).toBe(429);
    attempt.mockRestore();
    expect(await counts()).toEqual([refused + 1, locked + 1, 0]);
  });

  test('a forged session, token or link costs no query', async () => {
    const { operators } = on.database;
    const queries = [vi.spyOn(operators, 'holders'), vi.spyOn(operators, 'takeLink')];
    const other = makeSecret(Buffer.alloc(32));
    for (const forged of [other, 'x'.repeat(64), 'x', `${other.slice(0, 60)}%%%%`]) {
      const cookie = `packhouse_session=${forged}`;
      for (const headers of [{ cookie }, { authorization: `Bearer ${forged}` }]) {
        expect((await on.ask({ url: '/api/session', headers })).statusCode).toBe(401);
      }
      expect((await post('/api/sign-in', { link: forged })).statusCode).toBe(401);
    }
    expect(queries.map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
    vi.restoreAllMocks();
    const { statusCode } = await on.ask({ url: '/api/session', headers: await on.token('viewer') });
    expect(statusCode).toBe(200);
  });

  test('by an API key it is restricted as at gateways, and so is its session', async () => {
    const parts = { context: on.context, database: on.database, openJobs: () => Promise.reject(new Error()) };
    const app = await createConsole({ ...parts, host: '127.0.0.1', trustProxy: 1 });
    const signIn = async (restrictions: object, from: object = {}) => {
      const given = { application: 'narrow', network: null, plan: 'free', ...restrictions };
      const { key } = await on.database.keys.create(given);
      const headers = { host: '127.0.0.1:8090', 'x-forwarded-for': '203.0.113.7', ...from };
      return app.inject({ method: 'POST', url: '/api/sign-in', payload: { key }, headers });
    };
    const here = { addresses: ['203.0.113.0/24'] };
    const origin = 'http://127.0.0.1:8090';
    for (const [restrictions, from] of [
      [here, { 'x-forwarded-for': '198.51.100.1' }],
      [{ origins: ['https://app.example.com'] }, { origin }],
      [{ origins: [origin] }, {}],
      [{ methods: ['eth_call'] }, {}],
    ]) {
      const refused = await signIn(restrictions as object, from);
      expect(refused.json()).toMatchObject({ error: { code: 'API_KEY_REFUSED' } });
      expect(refused.statusCode).toBe(403);
    }
    expect((await signIn({ origins: [origin], methods: ['usage'] }, { origin })).statusCode).toBe(200);

    const cookie = String((await signIn(here)).headers['set-cookie']).split(';')[0] ?? '';
    const read = async (address: string) => {
      const headers = { host: '127.0.0.1:8090', 'x-forwarded-for': address, cookie };
      return (await app.inject({ url: '/api/own/limits', headers })).json();
    };
    expect(await read('203.0.113.8')).toMatchObject({ application: 'narrow' });
    expect(await read('198.51.100.1')).toMatchObject({ error: { code: 'API_KEY_REFUSED' } });
    await app.close();
  });

  test('behind a trusted proxy wrong passwords count for the client that it names', async () => {
    const parts = { context: on.context, database: on.database, openJobs: () => Promise.reject(new Error()) };
    for (const [trustProxy, address] of [
      [undefined, '127.0.0.1'],
      [1, '203.0.113.9'],
      [['10.0.0.0/8'], '127.0.0.1'],
    ] as const) {
      const counted = vi.spyOn(on.database.operators, 'attempt').mockResolvedValue(false);
      const app = await createConsole({ ...parts, host: '127.0.0.1', trustProxy: trustProxy as never });
      const headers = { host: '127.0.0.1:8090', 'x-forwarded-for': '198.51.100.1, 203.0.113.9' };
      const payload = { name: 'proxied', password: 'wrong password' };
      await app.inject({ method: 'POST', url: '/api/sign-in', headers, payload });
      expect(counted).toHaveBeenCalledWith([`address ${address}`, 'name proxied']);
      counted.mockRestore();
      await app.close();
    }
  });

  test('a password that was changed meanwhile opens no session', async () => {
    const parts = { context: on.context, database: on.database, actor: 'test' };
    const { id } = await addOperator.run(parts, { name: 'kay', role: 'admin', password: 'first password' });
    const checked = (await on.database.operators.find('kay'))?.password ?? null;
    const seal = await on.database.operators.seal();
    const keep = (password: string | null): Promise<boolean> => {
      const session = { kind: 'session', operatorId: id, keyId: null, role: 'admin', forMs: 60_000 } as const;
      return on.database.operators.keep({ sha256: getHash(makeSecret(seal)), ...session, password });
    };
    expect(await keep(checked)).toBe(true);
    await setOperator.run(parts, { name: 'kay', password: 'second password' });
    expect(await keep(checked)).toBe(false);
  });

  test('of the sessions of one holder the newest 50 stay', async () => {
    const { key } = await on.database.keys.create({ application: 'many', network: null, plan: 'free' });
    const getCookie = async (): Promise<string> =>
      String((await post('/api/sign-in', { key })).headers['set-cookie']).split(';')[0] ?? '';
    const oldest = await getCookie();
    for (let at = 0; at < 49; at++) await getCookie();
    expect((await on.ask({ url: '/api/session', headers: { cookie: oldest } })).statusCode).toBe(200);
    const newest = await getCookie();
    const secrets = [oldest, newest].map((cookie) => getHash(cookie.slice(cookie.indexOf('=') + 1)));
    expect(await on.database.operators.holders(secrets)).toMatchObject([null, { role: 'owner' }]);
  });

  test('by an API key its holder may see nothing of the installation', async () => {
    const { key } = await on.database.keys.create({ application: 'app', network: null, plan: 'free' });
    const signedIn = await post('/api/sign-in', { key });
    expect(signedIn.json()).toMatchObject({ role: 'owner' });
    const past = { application: 'app', network: null, plan: 'free', expiresAt: new Date(Date.now() - 1) };
    const ended = await on.database.keys.create(past);
    expect((await post('/api/sign-in', { key: ended.key })).json()).toMatchObject({
      error: { code: 'SIGN_IN_REFUSED' },
    });
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    expect((await on.ask({ url: '/api/alarms', headers: { cookie } })).json()).toMatchObject({
      error: { code: 'ROLE_TOO_LOW' },
    });
  });
});

describe('requests', () => {
  test('are answered by role', async () => {
    const viewer = await on.token('viewer');
    expect((await on.ask({ url: '/api/workers', headers: viewer })).json()).toEqual([]);
    const drain = { id: 'f', draining: true };
    expect((await post('/api/workers/drain', drain, viewer)).json()).toMatchObject({
      error: { code: 'ROLE_TOO_LOW' },
    });
    expect((await post('/api/workers/drain', drain, await on.token('operator'))).statusCode).toBe(404);
  });

  test.each([
    [{ url: '/api/alarms', headers: { host: 'evil.example' } }, 421, 'HOST_REFUSED'],
    [{ url: '/nothing' }, 404, 'PAGE_UNKNOWN'],
    [{ url: '/api/alarms' }, 401, 'SIGN_IN_REQUIRED'],
    [{ url: '/api/alarms', headers: { cookie: 'packhouse_session=none' } }, 401, 'SIGN_IN_REQUIRED'],
    [
      { method: 'POST', url: '/api/sign-in', payload: '{', headers: { 'content-type': 'application/json' } },
      400,
      'INPUT_INVALID',
    ],
    [{ method: 'POST', url: '/api/sign-in', payload: { name: 'x' } }, 400, 'INPUT_INVALID'],
    [{ method: 'POST', url: '/api/sign-in', payload: { name: '\0', password: 'x' } }, 400, 'INPUT_INVALID'],
  ] as const)('%j is refused with %i', async (options, status, code) => {
    const answer = await on.ask(options);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ error: { code } });
    expect(answer.headers['content-security-policy']).toContain("default-src 'self'");
  });

  test('of a page under the name of the console without TLS are refused', async () => {
    const url = 'https://packhouse.example.com';
    const openJobs = () => Promise.reject(new Error('not opened here'));
    const app = await createConsole({ ...on, openJobs, host: '127.0.0.1', url });
    const host = 'packhouse.example.com';
    const from = (origin: string) =>
      app.inject({ method: 'POST', url: '/api/sign-in', payload: { link: 'x' }, headers: { host, origin } });
    expect((await from(url)).json()).toMatchObject({ error: { code: 'SIGN_IN_REFUSED' } });
    const plain = await from(`http://${host}`);
    expect(plain.json()).toMatchObject({ error: { code: 'CSRF_REFUSED' } });
    expect(plain.headers['cache-control']).toBe('no-store');
    await app.close();
  });

  test('a token has no role above that of its operator', async () => {
    const parts = { context: on.context, database: on.database, actor: 'test' };
    await addOperator.run(parts, { name: 'vic', role: 'viewer' });
    const made = makeToken.run(parts, { name: 'vic', role: 'admin', label: 'x', days: 1 });
    await expect(made).rejects.toMatchObject({ code: 'ROLE_TOO_LOW' });
  });

  test('a HEAD opens no stream of events', async () => {
    const headers = await on.token('viewer');
    const head = await on.ask({ method: 'HEAD', url: '/api/events?topics=alarms', headers });
    expect(head.statusCode).toBe(404);
  });

  test('are described as OpenAPI', async () => {
    const { paths } = (await on.ask({ url: '/api/openapi.json' })).json();
    expect(paths['/api/alarms/clear'].post.requestBody.content['application/json'].schema).toMatchObject({
      required: ['network', 'name'],
    });
    expect(paths['/api/alarms'].get.parameters).toMatchObject([
      { name: 'network', required: false },
      { name: 'cleared' },
    ]);
  });
});

test('without its pages it is not ready, and says what to do', async () => {
  const parts = { context: on.context, database: on.database, openJobs: () => Promise.reject(new Error()) };
  const app = await createConsole({ ...parts, host: '127.0.0.1', pages: '/nonexistent' });
  const answer = await app.inject({ url: '/readyz' });
  expect(answer.statusCode).toBe(503);
  expect(answer.body).toBe('The pages are not built: run npm run build\n');
  await app.close();
});
