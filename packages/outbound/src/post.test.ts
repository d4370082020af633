import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPost } from './post.js';

const PUBLIC = '93.184.216.34';
let server: Server;
let port: number;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let bodies: string[];
let dialled: { address: string; port: number }[];
let names: string[][];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(body);
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  [bodies, dialled, names] = [[], [], [[PUBLIC]]];
  answer = (_, response) => response.end('ok');
});
afterEach(() => server.closeAllConnections());

const LOCAL = (address: string): boolean => address === '127.0.0.1';
const post = (
  url: string,
  given: { allowed?: typeof LOCAL; timeoutMs?: number; signal?: AbortSignal } = {},
) =>
  createPost({
    allowed: given.allowed,
    timeoutMs: given.timeoutMs ?? 5_000,
    resolve: async () => (names.length > 1 ? names.shift() : names[0]) ?? [],
    dial: (target) => {
      dialled.push(target);
      return { address: '127.0.0.1', port };
    },
  })(
    new URL(url),
    { body: '{"a":1}', headers: { 'webhook-id': 'msg_1' } },
    given.signal ?? new AbortController().signal,
  );

it('sends the body and headers to an allowed address, by http and on any port', async () => {
  let seen: IncomingMessage | undefined;
  answer = (request, response) => {
    seen = request;
    response.writeHead(204).end();
  };
  expect(await post('http://127.0.0.1:9/in?x=y', { allowed: LOCAL })).toEqual({ status: 204 });
  expect(dialled).toEqual([{ address: '127.0.0.1', port: 9 }]);
  expect(seen).toMatchObject({
    method: 'POST',
    url: '/in?x=y',
    headers: { 'webhook-id': 'msg_1', connection: 'close' },
  });
  expect(bodies).toEqual(['{"a":1}']);
});

describe('is not sent', () => {
  it.each([
    ['http://127.0.0.1/', /not public/],
    ['https://169.254.169.254/latest/', /not public/],
    ['https://[::1]/', /not public/],
    ['https://[::ffff:10.0.0.1]/', /not public/],
    [`https://${PUBLIC}:8443/`, /Port 8443 of a public address/],
    [`http://${PUBLIC}/`, /https: only/],
  ])('to %s', async (url, reason) => {
    expect(await post(url)).toEqual({ failure: 'forbidden', reason: expect.stringMatching(reason) });
    expect(dialled).toEqual([]);
  });

  it.each([[['10.0.0.1']], [[PUBLIC, '10.0.0.1']], [['127.0.0.1', '10.0.0.1']], [[]]])(
    'to a name that has %j',
    async (addresses) => {
      names = [addresses];
      expect(await post('https://a.example/', { allowed: LOCAL })).toMatchObject({ failure: 'forbidden' });
      expect(dialled).toEqual([]);
    },
  );
});

it('is sent to the address that was checked, though the name has another one a moment later', async () => {
  names = [[PUBLIC], ['127.0.0.1']];
  // The server of the test speaks no TLS.
  expect(await post('https://a.example/')).toMatchObject({ failure: 'unreachable' });
  expect(dialled).toEqual([{ address: PUBLIC, port: 443 }]);
  expect(bodies).toEqual([]);
});

it('follows no redirect', async () => {
  answer = (_, response) => response.writeHead(307, { location: 'http://127.0.0.1/other' }).end();
  expect(await post('http://127.0.0.1/', { allowed: LOCAL })).toEqual({ status: 307 });
  expect(bodies).toHaveLength(1);
});

it('reads no body, however long it is', async () => {
  let sent = 0;
  const closed = new Promise<void>((resolve) => {
    answer = (_, response) => {
      const piece = Buffer.alloc(65_536);
      const more = (): void => {
        while (sent < 100 << 20 && response.write(piece)) sent += piece.length;
        response.once('drain', more);
      };
      response.once('close', resolve);
      more();
    };
  });
  expect(await post('http://127.0.0.1/', { allowed: LOCAL })).toEqual({ status: 200 });
  await closed;
  expect(sent).toBeLessThan(32 << 20);
});

it('waits for a receiver that hangs for its time only, before and within the head of its answer', async () => {
  answer = () => undefined;
  expect(await post('http://127.0.0.1/', { allowed: LOCAL, timeoutMs: 200 })).toEqual({
    failure: 'timeout',
    reason: 'No answer within 0.2 s.',
  });
  answer = ({ socket }) => socket.write('HTTP/1.1 200 OK\r\nx: ');
  expect(await post('http://127.0.0.1/', { allowed: LOCAL, timeoutMs: 200 })).toMatchObject({
    failure: 'timeout',
  });
});

it('is unreachable if the connection breaks, and rejects only if it is aborted', async () => {
  answer = ({ socket }) => socket.destroy();
  expect(await post('http://127.0.0.1/', { allowed: LOCAL })).toMatchObject({ failure: 'unreachable' });
  const stop = new AbortController();
  answer = () => stop.abort(new Error('enough'));
  await expect(post('http://127.0.0.1/', { allowed: LOCAL, signal: stop.signal })).rejects.toThrow('enough');
});
