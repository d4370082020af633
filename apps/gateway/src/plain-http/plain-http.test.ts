import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { servePlain } from './plain-connection.js';
import { PlainRequest } from './plain-messages.js';
import type { HttpRequest, HttpResponse } from './transport.js';

let server: Server;
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.closeAllConnections();
  server.close();
});

type Answer = (request: HttpRequest, response: HttpResponse, body: Buffer) => void;

/** Whether each request was read here, in order. */
let plain: boolean[];

/** Starts a server that answers once it has the body. */
async function serve(answer: Answer, settings: { checkMs?: number; requestTimeout?: number } = {}) {
  plain = [];
  server = createServer((incoming, outgoing) => {
    const [request, response] = [incoming as HttpRequest, outgoing as HttpResponse];
    plain.push(request instanceof PlainRequest);
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks)));
  });
  server.keepAliveTimeout = 72_000;
  server.requestTimeout = settings.requestTimeout ?? 30_000;
  const connections = servePlain(server, {
    refuseSlow: (socket) => socket.end('too slow'),
    checkMs: settings.checkMs ?? 5_000,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return connections;
}

/** Opens a connection; `text` is what came of it. */
function open(): { socket: Socket; text: () => string; closed: Promise<unknown> } {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(socket);
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  return { socket, text: () => text, closed: once(socket, 'close') };
}

const echo: Answer = ({ url }, response, body) => {
  const text = `${url} ${body.toString('latin1')};`;
  response.writeHead(200, ['content-length', String(text.length)]);
  response.end(text, 'latin1');
};

const post = (body: string, more = ''): string =>
  `POST /a HTTP/1.1\r\nHost: x\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;

it('answers with the lines that node:http writes', async () => {
  await serve(echo);
  const [here, there] = [open(), open()];
  here.socket.write(post('1'));
  // A tab is not plain.
  there.socket.write(post('1', 'x-other:\t1\r\n'));
  await expect.poll(() => here.text() !== '' && there.text() !== '').toBe(true);
  expect(plain.sort()).toEqual([false, true]);
  expect(here.text().replace(/Date: .*/, '')).toBe(there.text().replace(/Date: .*/, ''));
  expect(here.text()).toMatch(/^HTTP\/1.1 200 OK\r\n.*Date: \w{3}, [^\r]* GMT\r\n.*\r\n\r\n\/a 1;$/s);
});

it('closes the connection behind the answer to a client that asks for it, as node:http does', async () => {
  await serve(echo);
  const [here, there] = [open(), open()];
  here.socket.write(post('1', 'Connection: close\r\n') + post('2'));
  there.socket.write(post('1', 'Connection: close\r\nx-other:\t1\r\n'));
  await Promise.all([here.closed, there.closed]);
  expect(plain.sort()).toEqual([false, true]);
  expect(here.text().replace(/Date: .*/, '')).toBe(there.text().replace(/Date: .*/, ''));
  expect(here.text()).toContain('Connection: close\r\n');
});

it('reads requests however they are cut, one behind the other, each with its own body', async () => {
  await serve(echo);
  const { socket, text } = open();
  const bodies = Array.from({ length: 30 }, (_, at) => 'x'.repeat(at * 7));
  const bytes = bodies.map((body) => post(body)).join('');
  const cuts = [1, 2, 3, 50, 500];
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = cuts[n % cuts.length] as number;
    socket.write(bytes.slice(at, at + size), 'latin1');
    at += size;
    await new Promise(setImmediate);
  }
  await expect.poll(() => text().split('HTTP/1.1 200').length).toBe(bodies.length + 1);
  for (const body of bodies) expect(text()).toContain(`\r\n\r\n/a ${body};`);
});

it('answers in order, and begins no request before the answer to the one before is sent', async () => {
  const waiting: (() => void)[] = [];
  await serve((request, response, body) => void waiting.push(() => echo(request, response, body)));
  const { socket, text } = open();
  socket.write(post('1') + post('2'));
  await expect.poll(() => waiting.length).toBe(1);
  waiting[0]?.();
  await expect.poll(() => waiting.length).toBe(2);
  waiting[1]?.();
  await expect.poll(() => text()).toMatch(/\/a 1;HTTP.*\/a 2;$/s);
});

it('hands a connection over between two requests, with all that came', async () => {
  await serve(echo);
  const { socket, text } = open();
  const chunked = 'POST /b HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\n2\r\n0\r\n\r\n';
  socket.write(post('1') + chunked + post('3'));
  await expect.poll(() => text()).toMatch(/\/a 1;.*\/b 2;.*\/a 3;$/s);
  expect(plain).toEqual([true, false, false]);
});

it('streams without a length in chunks, and nothing behind 204 and 304', async () => {
  await serve(({ url }, response) => {
    if (url === '/a') {
      response.writeHead(200, []);
      response.write(Buffer.from('one'));
      response.write('two');
      response.end();
    } else response.writeHead(url === '/204' ? 204 : 304, []);
    response.end();
  });
  const { socket, text } = open();
  for (const path of ['/a', '/204', '/304']) {
    const before = text().length;
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await expect.poll(() => text().length).toBeGreaterThan(before);
  }
  expect(plain).toEqual([true, true, true]);
  const [, chunks, none, unchanged] = text().split('HTTP/1.1 ');
  expect(chunks).toMatch(/transfer-encoding: chunked\r\n.*\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n$/s);
  for (const head of [none, unchanged]) expect(head).toMatch(/^(?:204|304)(?!.*transfer).*\r\n\r\n$/s);
});

it('tells of each answer that it is sent, of one whose reader is gone that it is not', async () => {
  const ends: boolean[] = [];
  await serve((_, response) => {
    response.on('close', () => ends.push(response.writableFinished));
    const large = Buffer.alloc(20_000_000);
    response.writeHead(200, ['content-length', String(large.length)]);
    response.write(large);
    response.end();
  });
  const first = open();
  first.socket.write(post(''));
  await expect.poll(() => ends).toEqual([true]);
  const second = open();
  second.socket.pause().write(post(''));
  await once(second.socket, 'connect');
  await expect.poll(() => plain.length).toBe(2);
  second.socket.destroy();
  await expect.poll(() => ends).toEqual([true, false]);
});

it('drops the rest of a body that nobody reads, and reads the next request behind it', async () => {
  await serve(echo);
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    plain.push(request instanceof PlainRequest);
    response.writeHead(413, ['content-length', '0']);
    response.end();
  });
  const { socket, text } = open();
  const body = 'x'.repeat(200_000);
  socket.write(post(body) + post(body));
  await expect.poll(() => text().split('413').length).toBe(3);
  expect(plain).toEqual([true, true]);
});

it('refuses a body that drips in, and closes connections that are not used, not those that are', async () => {
  const connections = await serve(() => undefined, { checkMs: 10, requestTimeout: 50 });
  const slow = open();
  slow.socket.write(post('12').slice(0, -1));
  await slow.closed;
  expect(slow.text()).toBe('too slow');
  const [idle, busy] = [open(), open()];
  busy.socket.write(post('12'));
  await expect.poll(() => plain.length).toBe(2);
  connections.closeIdle();
  await idle.closed;
  expect(busy.socket.destroyed).toBe(false);
  connections.closeAll();
  await busy.closed;
});

it('refuses a value that could end its line', async () => {
  let failed: unknown;
  await serve((_, response) => {
    try {
      response.writeHead(200, ['x', 'a\r\nb: c']);
    } catch (error) {
      failed = error;
      response.destroy();
    }
  });
  const { socket, closed } = open();
  socket.write(post(''));
  await closed;
  expect(String(failed)).toContain('invalid character');
});

it('passes on headers as node:http does', async () => {
  const seen: IncomingHttpHeaders[] = [];
  await serve((request, response, body) => {
    seen.push(request.headers);
    echo(request, response, body);
  });
  const head =
    'POST /a?b=%20 HTTP/1.1\r\nHoSt: x \r\nAccept-Encoding:gzip\r\nEmpty:\r\nContent-Length: 0\r\n';
  const [here, there] = [open(), open()];
  here.socket.write(`${head}\r\n`);
  await expect.poll(() => seen.length).toBe(1);
  there.socket.write(`${head}Expect: 1\r\n\r\n`.replace('Expect: 1', 'Trailer: 1'));
  await expect.poll(() => seen.length).toBe(2);
  expect(plain).toEqual([true, false]);
  expect({ ...seen[0], trailer: '1' }).toEqual({ ...seen[1] });
});
