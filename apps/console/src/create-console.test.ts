import { addOperator, hashOf, makeSecret } from '@packhouse/operations';
import { describe, expect, test } from 'vitest';
import { useConsole } from './testing/use-console.js';

const on = useConsole();
const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  on.ask({ method: 'POST', url, payload, headers });

describe('signing in', () => {
  test('by a link, once: then the session may change things with its CSRF token only', async () => {
    const operator = await on.database.operators.add({ name: 'ada', role: 'operator', password: null });
    const link = makeSecret();
    const secret = { kind: 'link', operatorId: operator?.id ?? 0, keyId: null, role: 'operator' } as const;
    await on.database.operators.keep({ sha256: hashOf(link), ...secret, forMs: 600_000 });
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
      { context: on.context, database: on.database, who: 'test' },
      { name: 'grace', role: 'admin', password },
    );
    expect((await post('/api/sign-in', { name: 'grace', password })).json()).toMatchObject({ role: 'admin' });
    for (let failure = 0; failure < 5; failure++) {
      const wrong = await post('/api/sign-in', { name: 'grace', password: 'wrong' });
      expect(wrong.json()).toMatchObject({ error: { code: 'SIGN_IN_REFUSED' } });
    }
    const locked = await post('/api/sign-in', { name: 'grace', password });
    expect(locked.statusCode).toBe(429);
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0);
    await on.database.operators.succeeded(['name grace', 'address 127.0.0.1']);
  });

  test('by an API key its holder may see nothing of the installation', async () => {
    const { key } = await on.database.keys.create({ application: 'app', network: null, plan: 'free' });
    const signedIn = await post('/api/sign-in', { key });
    expect(signedIn.json()).toMatchObject({ role: 'owner' });
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
  ] as const)('%j is refused with %i', async (options, status, code) => {
    const answer = await on.ask(options);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ error: { code } });
    expect(answer.headers['content-security-policy']).toContain("default-src 'self'");
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
