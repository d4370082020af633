import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { Client } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { createPlainPool, type PlainHandler } from './plain-pool.js';

type PlainPool = ReturnType<typeof createPlainPool>;

type Controller = Parameters<PlainHandler['onRequestStart']>[0];

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server that is given each request's text and its socket. */
async function serve(
  answer: (request: string, socket: Socket) => void,
): Promise<{ url: URL; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    let held = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      held += chunk.toString('latin1');
      const end = held.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/.exec(held)?.[1]);
      if (end === -1 || held.length < end + 4 + length) return;
      const request = held;
      held = '';
      answer(request, socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), sockets };
}

function poolTo(url: URL, connections = 2, onUnreadable = (): void => undefined): PlainPool {
  const pool = createPlainPool({ url, connections, connectTimeoutMs: 5_000, onUnreadable });
  closers.push(() => pool.destroy());
  return pool;
}

interface Got {
  status: number;
  headers: unknown;
  body: string;
}

/** What a handler is told; `begun` gets its controller. */
function collect(
  dispatch: (handler: PlainHandler) => void,
  begun: (controller: Controller) => void = () => undefined,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const got: Got = { status: 0, headers: {}, body: '' };
    dispatch({
      onRequestStart: begun,
      onResponseStart: (_, status, headers) => Object.assign(got, { status, headers: toTexts(headers) }),
      onResponseData: (_, chunk) => {
        got.body += chunk.toString('latin1');
      },
      onResponseEnd: () => resolve(got),
      onResponseError: (_, error) => reject(error),
    });
  });
}

/** undici leaves the space behind a value, which is no part of it (RFC 9110, 5.5). */
function toTexts(headers: Readonly<Record<string, string | string[] | undefined>>): object {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value].flat().map((text) => text?.trimEnd())]),
  );
}

const post = (pool: PlainPool, body = '{}', begun?: (controller: Controller) => void): Promise<Got> =>
  collect((handler) => pool.dispatch({ path: '/a?b', headers: { accept: 'x' }, body }, handler), begun);

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

it('sends a POST with its headers and its body in UTF-8, and uses a connection again', async () => {
  const seen: string[] = [];
  const { sockets, url } = await serve((request, socket) => {
    seen.push(request);
    socket.write(OK);
  });
  const pool = poolTo(url);
  for (const body of ['{}', '"é☃"'])
    expect(await post(pool, body)).toMatchObject({ status: 200, body: 'ok' });
  const head = (length: number): string =>
    `POST /a?b HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\naccept: x\r\ncontent-length: ${length}\r\n\r\n`;
  expect(seen).toEqual([`${head(2)}{}`, `${head(7)}${Buffer.from('"é☃"').toString('latin1')}`]);
  expect(sockets).toHaveLength(1);
});

it('has so many connections, and lets the others wait in their order', async () => {
  const answers: (() => void)[] = [];
  const { sockets, url } = await serve((_, socket) => void answers.push(() => socket.write(OK)));
  const pool = poolTo(url);
  const order: number[] = [];
  const all = [0, 1, 2, 3].map((n) => post(pool).then(() => order.push(n)));
  while (order.length < 4) {
    await new Promise((resolve) => setImmediate(resolve));
    answers.shift()?.();
  }
  await Promise.all(all);
  expect(sockets).toHaveLength(2);
  expect(order.indexOf(2)).toBeGreaterThan(0);
});

it.each([
  ['says that it closes', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok'],
  ['closes it soon', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nkeep-alive: timeout=1\r\n\r\nok'],
  ['sends more than the response', `${OK}HTTP/1.1 200 OK\r\n`],
])('opens another connection if the node %s', async (_, text) => {
  const { sockets, url } = await serve((_request, socket) => void socket.write(text));
  const pool = poolTo(url);
  for (let n = 0; n < 2; n++) expect(await post(pool)).toMatchObject({ body: 'ok' });
  expect(sockets).toHaveLength(2);
});

it('opens another connection if the node closed an idle one, or wrote on it', async () => {
  const { sockets, url } = await serve((_, socket) => void socket.write(OK));
  const pool = poolTo(url);
  for (const spoil of [(socket: Socket) => socket.end(), (socket: Socket) => socket.write('x')]) {
    await post(pool);
    const last = sockets.at(-1) as Socket;
    const closed = new Promise((resolve) => last.once('close', resolve));
    spoil(last);
    await closed;
  }
  expect(await post(pool)).toMatchObject({ body: 'ok' });
  expect(sockets).toHaveLength(3);
});

it('tells of a node that is not there, that breaks off, and that sends no HTTP', async () => {
  let unreadable = 0;
  const { url } = await serve((request, socket) => {
    if (request.endsWith('1')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
    else if (request.endsWith('2')) socket.destroy();
    else socket.write('SSH-2.0\r\n\r\n');
  });
  const pool = poolTo(url, 2, () => {
    unreadable += 1;
  });
  await expect(post(pool, '1')).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  await expect(post(pool, '2')).rejects.toMatchObject({
    code: expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET/),
  });
  expect(unreadable).toBe(0);
  await expect(post(pool, '3')).rejects.toMatchObject({ code: 'HPE_UNREADABLE' });
  expect(unreadable).toBe(1);
  const gone = poolTo(new URL('http://127.0.0.1:1/'));
  await expect(post(gone)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('ends a request alone: before it is sent, and in the middle of its response', async () => {
  const { sockets, url } = await serve((request, socket) => {
    socket.write(request.endsWith('half') ? 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf' : OK);
  });
  const pool = poolTo(url, 1);
  const why = new Error('enough');
  await expect(post(pool, '{}', (controller) => controller.abort(why))).rejects.toBe(why);
  let ended: Controller | undefined;
  const half = collect((handler) => {
    pool.dispatch(
      { path: '/', headers: {}, body: 'half' },
      { ...handler, onResponseData: (controller) => controller.abort(why) },
    );
  });
  await expect(half).rejects.toBe(why);
  await post(pool, '{}', (controller) => {
    ended = controller;
  });
  // Its connection serves others now.
  const next = post(pool);
  ended?.pause();
  ended?.abort(why);
  expect(await next).toMatchObject({ body: 'ok' });
  expect(sockets).toHaveLength(2);
});

it('reads a response at the pace of its reader', async () => {
  const all = 'x'.repeat(20_000_000);
  const { url } = await serve((_, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${all.length}\r\n\r\n`);
    socket.write(all);
  });
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    poolTo(url).dispatch(
      { path: '/', headers: {}, body: '' },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (controller, chunk) => {
          bytes += chunk.length;
          const before = bytes;
          controller.pause();
          setImmediate(() => {
            expect(bytes).toBe(before);
            controller.resume();
          });
        },
        onResponseEnd: resolve,
        onResponseError: (_, error) => reject(error),
      },
    );
  });
  expect(bytes).toBe(all.length);
});

it('sends no header that would be two', async () => {
  const { url } = await serve(() => undefined);
  const pool = poolTo(url);
  for (const headers of [{ a: 'b\r\nc: d' }, { 'a b': 'c' }] as Record<string, string>[]) {
    expect(() => pool.dispatch({ path: '/', headers, body: '' }, {} as PlainHandler)).toThrow();
  }
});

it('reads nothing that undici refuses, and all else alike', async () => {
  let pieces: Buffer[] = [];
  const { url } = await serve(async (_, socket) => {
    for (const piece of pieces) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.end();
  });
  const pool = poolTo(url, 1);
  let read = 0;
  const outcome = (got: Promise<Got>): Promise<Got | null> => got.catch(() => null);
  const body = fc.string({ maxLength: 40 });
  const status = fc.constantFrom(200, 201, 204, 304, 400, 429, 500, 503);
  const framing = fc.constantFrom('length', 'chunked', 'close');
  const change = fc.tuple(fc.nat(), fc.constantFrom(...'\r\n :;,0123456789aZ-', '', '\r\n'));
  const changes = fc.oneof(fc.constant([]), fc.array(change, { minLength: 1, maxLength: 2 }));
  await fc.assert(
    fc.asyncProperty(
      body,
      status,
      framing,
      changes,
      fc.integer({ min: 1, max: 60 }),
      async (text, code, kind, edits, size) => {
        const bytes = Buffer.from(text);
        const content = bytes.toString('latin1');
        const length = kind === 'length' ? `Content-Length: ${bytes.length}\r\n` : '';
        const coding = kind === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : '';
        const written =
          kind === 'chunked'
            ? `${bytes.length === 0 ? '' : `${bytes.length.toString(16)}\r\n${content}\r\n`}0\r\n\r\n`
            : content;
        let response = `HTTP/1.1 ${code} Text\r\nContent-Type: application/json\r\n${length}${coding}\r\n${written}`;
        for (const [at, by] of edits) {
          const place = at % response.length;
          response = response.slice(0, place) + by + response.slice(place + 1);
        }
        const all = Buffer.from(response, 'latin1');
        pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
          all.subarray(n * size, (n + 1) * size),
        );
        const ours = await outcome(post(pool));
        if (ours === null) {
          // A status without a body has one here.
          expect(edits.length > 0 || code === 204 || code === 304).toBe(true);
          return;
        }
        read += 1;
        const client = new Client(url.origin);
        const theirs = await outcome(
          collect((handler) =>
            client.dispatch({ path: '/', method: 'POST', headers: {}, body: '{}' }, handler),
          ),
        );
        await client.destroy();
        expect(theirs).toEqual(ours);
      },
    ),
    { numRuns: 400 },
  );
  expect(read).toBeGreaterThan(100);
}, 60_000);
