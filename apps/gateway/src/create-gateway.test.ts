import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { PackhouseError } from '@packhouse/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateway } from './create-gateway.js';
import { ask } from './testing/ask.js';
import { startTestGateway, type TestGateway } from './testing/test-gateway.js';

/** Sends bytes on a bare connection and returns all bytes received until it is closed. */
function sendRaw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

/** From now on blocks are located once `held` is opened; `arrival` opens when the first is asked for. */
function holdLocate({ database }: TestGateway): Record<'held' | 'arrival', ReturnType<typeof gate>> {
  const [held, arrival] = [gate(), gate()];
  const kept = database.network('ethereum');
  const { locate } = kept;
  kept.locate = async (...args) => {
    arrival.open();
    await held.opened;
    return locate(...args);
  };
  return { held, arrival };
}

describe('a gateway under hostile requests', () => {
  let at: TestGateway;
  let key: string;
  beforeAll(async () => {
    at = await startTestGateway();
    ({ key } = await at.makeKey());
    await at.stage(0, 3);
    await at.publish(0, 3);
  });
  afterAll(() => at.close());

  it('answers tricks with the path by 4xx problem documents', async () => {
    const base = `/ethereum/v1/${key}/bundle-api`;
    const paths = [
      `${base}/blocks%2f1`,
      `${base}/..%2f..%2fblocks/1`,
      `${base}/blocks/../blocks/1`,
      `${base}/blocks//1`,
      `/${base}/blocks/1`,
      `${base}/blocks/1/`,
      `${base}/blocks/%`,
      `${base}/blocks/%zz`,
      `${base}/blocks/%c0%af`,
      `${base}/blocks/1%0d%0aset-cookie:%20a=b`,
      `${base}/__proto__/1`,
      `${base}/constructor/1`,
      `${base}/blocks/${'1'.repeat(3_000)}`,
      `/${'x'.repeat(10_000)}`,
      '/ethereum/files/blocks/..%2f..%2f..%2fetc%2fpasswd',
      '/ethereum/files/..%2fblocks/0-3.json.gz',
      '/ethereum/files/blocks/0-3.json.gz%00',
      '//ethereum/files/blocks/0-3.json.gz',
      '/ethereum/v1/',
      '/../../etc/passwd',
      '*',
    ];
    for (const path of paths) {
      const answer = await ask(at.url, path, { headers: { authorization: `Bearer ${key}` } });
      expect(answer.status, path.slice(0, 100)).toBeGreaterThanOrEqual(400);
      expect(answer.status, path.slice(0, 100)).toBeLessThan(500);
      expect(answer.headers['content-type'], path.slice(0, 100)).toMatch(/^application\/problem\+json/);
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(answer.json()).toMatchObject({
        status: answer.status,
        requestId: answer.headers['x-request-id'],
      });
    }
  });

  it('refuses a body that nobody asked for, and hangs up', async () => {
    const answer = await ask(at.url, '/healthz', { body: 'x', headers: { 'content-length': '1' } });
    expect(answer.json()).toMatchObject({ status: 400, reason: 'request-malformed' });
    expect(answer.headers.connection).toBe('close');
  });

  it.each([
    ['no HTTP at all', 'nonsense\r\n\r\n', '400'],
    ['headers of 64 KiB', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(65_536)}\r\n\r\n`, '431'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      '400',
    ],
  ])('answers %s with a problem document and hangs up', async (_, bytes, status) => {
    const text = await sendRaw(at.url, bytes);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toContain('content-type: application/problem+json');
  });

  it('writes no key into the log or the metrics, only its public prefix', async () => {
    const secret = key.slice('ph_12345678_'.length);
    expect(secret).toHaveLength(43);
    const wrong = `ph_abcdefgh_${'B'.repeat(43)}`;
    const encoded = [...key].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
    const kept = at.database.network('ethereum');
    const { locate } = kept;
    for (const path of [
      `/ethereum/v1/${key}/bundle-api/blocks/1`,
      `/ethereum/v1/${key}/bundle-api/blocks/x`,
      `/ethereum/v1/${key}/nothing/here`,
      `/ethereum/v1/${wrong}/bundle-api/blocks/1`,
      `/ethereum/v1/${encoded}/bundle-api/blocks/1`,
      `/ethereum/v1/${encoded}/bundle-api/blocks/%`,
      `/nowhere/v1/${key}/bundle-api/blocks/1`,
      `/${key}?apikey=${key}`,
    ]) {
      await ask(at.url, path, {
        headers: { referer: `http://a/${key}`, 'user-agent': key, 'x-request-id': key },
      });
    }
    kept.locate = () => Promise.reject(new Error(`fault at ${key}`));
    const fault = await ask(at.url, `/ethereum/v1/${key}/bundle-api/blocks/999`);
    kept.locate = locate;
    expect(fault.status).toBe(500);
    const told = `${at.log.join('')}${await at.context.metrics.render()}${fault.text}`;
    for (const text of [secret, encoded, 'B'.repeat(43)]) expect(told).not.toContain(text);
    expect(told).toContain(key.slice(0, 11));
    expect((await ask(at.url, '/metrics')).text).toMatch(
      new RegExp(
        `packhouse_gateway_requests_total\\{.*kind="blocks",status="200",key="${key.slice(0, 11)}"\\} `,
      ),
    );
    expect(told).not.toContain('abcdefgh');
  });

  it('logs one structured line a request', async () => {
    const before = at.log.length;
    await ask(at.url, '/ethereum/files/logs/0-3.json.gz', { headers: { authorization: `Bearer ${key}` } });
    const lines = at.log
      .slice(before)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'request');
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'info',
        requestId: expect.any(String),
        route: 'download',
        network: 'ethereum',
        kind: 'logs',
        status: 200,
        bytes: expect.any(Number),
        ms: expect.any(Number),
        key: key.slice(0, 11),
      }),
    ]);
    expect(lines[0]?.bytes).toBeGreaterThan(0);
  });
});

describe('the life of a gateway', () => {
  it('refuses a port that is taken, by name', async () => {
    const at = await startTestGateway();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const { context, database, objectStore } = at;
    const second = await createGateway({ context, database, objectStore, networks: [] });
    const failure = second.listen(port, '127.0.0.1');
    await expect(failure).rejects.toThrow(PackhouseError);
    await expect(failure).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringContaining(`${port}`),
    });
    await second.close();
    taken.close();
    await at.close();
  });

  it('answers 503 with Retry-After while Postgres is gone, and what it knows until the key is a second old', async () => {
    const at = await startTestGateway();
    const { key } = await at.makeKey();
    await at.stage(0, 3);
    await at.publish(0, 3);
    const known = `/ethereum/v1/${key}/bundle-api/blocks/2`;
    expect((await ask(at.url, known)).status).toBe(200);
    at.time.frozenAt = Date.now();
    expect((await ask(at.url, known)).status).toBe(200);
    await at.losePostgres();
    expect((await ask(at.url, known)).status).toBe(200);
    const unknown = await ask(at.url, `/ethereum/v1/${key}/bundle-api/logs/2`);
    expect(unknown.status).toBe(503);
    expect(unknown.headers['retry-after']).toBe('5');
    expect(unknown.json()).toMatchObject({ reason: 'unavailable', code: -32002, retryAfter: 5 });
    at.time.offset += 1_000;
    expect((await ask(at.url, known)).status).toBe(503);
    at.time.frozenAt = null;
    at.time.offset += 1_000;
    const ready = await ask(at.url, '/readyz');
    expect(ready.status).toBe(503);
    expect(ready.json()).toMatchObject({ database: false, objectStore: true });
    expect((await ask(at.url, '/healthz')).status).toBe(200);
    await at.close();
  });

  it('ends what is under way when it closes, and refuses what comes meanwhile', async () => {
    const at = await startTestGateway();
    const { key } = await at.makeKey();
    await at.stage(0, 3);
    const { held, arrival } = holdLocate(at);
    const path = `/ethereum/v1/${key}/bundle-api/blocks/1`;
    const socket = connect(Number(new URL(at.url).port), '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    const ended = new Promise((resolve) => socket.on('close', resolve));
    const connected = once(at.gateway.server, 'connection') as Promise<[Socket]>;
    const asked = `GET ${path} HTTP/1.1\r\nhost: ${new URL(at.url).host}\r\n\r\n`;
    socket.write(asked);
    await arrival.opened;
    const [connection] = await connected;
    const closing = at.gateway.close();
    socket.write(asked);
    await expect.poll(() => connection.bytesRead).toBe(2 * asked.length);
    held.open();
    await closing;
    await ended;
    expect(text).toMatch(/^HTTP\/1.1 200 .*"range":"1-1".*HTTP\/1.1 503 /s);
    expect(text).toMatch(/retry-after: 1\r\n/i);
    expect(text).toContain('"reason":"draining"');
    await expect(ask(at.url, '/healthz')).rejects.toThrow(/ECONNREFUSED/);
    await at.close();
  });

  it('does not wait for clients that keep their connection', async () => {
    const at = await startTestGateway();
    const { key } = await at.makeKey();
    await at.stage(0, 3);
    const { held, arrival } = holdLocate(at);
    const agent = new Agent({ keepAlive: true });
    const answer = new Promise((resolve, reject) => {
      request(`${at.url}/ethereum/v1/${key}/bundle-api/blocks/1`, { agent }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      })
        .on('error', reject)
        .end();
    });
    await arrival.opened;
    const closing = at.gateway.close();
    held.open();
    expect(await answer).toBe(200);
    await closing;
    agent.destroy();
    await at.close();
  });
});

describe('a gateway that drains', () => {
  it('says first that nothing more should be sent to it, and answers until the delay is over', async () => {
    const at = await startTestGateway();
    const delay = gate();
    const { sleep } = at.context.clock;
    at.context.clock.sleep = () => delay.opened;
    const closing = at.gateway.close({ delayMs: 1_000 });
    const ready = await ask(at.url, '/readyz');
    expect(ready.status).toBe(503);
    expect(ready.json()).toMatchObject({
      status: 'not ready',
      database: true,
      objectStore: true,
      draining: true,
    });
    expect((await ask(at.url, '/healthz')).status).toBe(200);
    delay.open();
    await closing;
    await expect(ask(at.url, '/healthz')).rejects.toThrow(/ECONNREFUSED/);
    at.context.clock.sleep = sleep;
    await at.close();
  });

  it('cuts off what is still under way when its time is over', async () => {
    const at = await startTestGateway();
    const { key } = await at.makeKey();
    await at.stage(0, 3);
    const arrival = gate();
    const never = gate();
    const kept = at.database.network('ethereum');
    const { locate } = kept;
    kept.locate = async (...args) => {
      arrival.open();
      await never.opened;
      return locate(...args);
    };
    const answer = ask(at.url, `/ethereum/v1/${key}/bundle-api/blocks/1`);
    answer.catch(() => undefined);
    await arrival.opened;
    const cut = new AbortController();
    const closing = at.gateway.close({ cut: cut.signal });
    cut.abort();
    await closing;
    await expect(answer).rejects.toThrow();
    never.open();
    await at.close();
  });
});

/** A promise that is resolved from outside. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
