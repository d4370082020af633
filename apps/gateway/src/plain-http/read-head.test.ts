import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, it } from 'vitest';
import { createHeadReader } from './read-head.js';

/** What node:http reads: the requests that its parser takes from these bytes, each with its body. */
interface Read {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

async function readByNode(bytes: Buffer): Promise<Read[]> {
  const read: Read[] = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const each: Read = { method, url, headers: { ...headers }, body: '' };
    read.push(each);
    request.on('data', (chunk: Buffer) => {
      each.body += chunk.toString('latin1');
    });
    response.end();
  });
  server.on('clientError', () => undefined);
  server.on('checkContinue', server.listeners('request')[0] as never);
  const duplex = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  server.emit('connection', duplex as Socket);
  duplex.push(bytes);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  duplex.destroy();
  server.close();
  return read;
}

/** Reads what is plain, one request after the other, on one connection. */
function readPlain(bytes: Buffer): Read[] {
  const readHead = createHeadReader();
  const read: Read[] = [];
  for (let at = 0; at < bytes.length; ) {
    const head = readHead(bytes.subarray(at));
    if (head === null) break;
    const { method, url, headers, bodyLength, byteLength, isLast } = head;
    const body = at + byteLength;
    at = body + bodyLength;
    read.push({ method, url, headers: { ...headers }, body: bytes.toString('latin1', body, at) });
    if (isLast) break;
  }
  return read;
}

/** A repeatable source of numbers from 0 to 1 (Mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const METHODS = ['GET', 'POST', 'POST', 'GET', 'PUT', 'HEAD', 'get', 'G ET', 'M-SEARCH', ''];
const URLS = [
  '/',
  '/a/b',
  '/x?y=%20&z',
  '/a;b,c',
  '//x',
  '/[',
  '/#f',
  '*',
  'http://h/a',
  '/\xe9',
  '/a b',
  '',
];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 '];
const NAMES = ['Accept', 'x-y', 'Origin', 'COOKIE', 'a_b', 'a b', '', 'Content-Length', 'Transfer-Encoding'];
const MORE = ['Connection', 'Upgrade', 'Expect', 'Host', 'Trailer', 'Proxy-Connection', '__proto__', 'Date'];
const VALUES = ['1', '', 'a b', ' x ', '\t', 'keep-alive', 'close', 'chunked', 'websocket', '100-continue'];
const ODD = ['0', '007', '+1', '-1', '1,1', '3', '99999999999999999999', 'x\ty', '\xff', '"q"', 'a\r\n b'];
const ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', ''];

/** Requests one behind the other, of usual and odd parts, now and then with a byte changed. */
function makeBytes(random: () => number): Buffer {
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] as string;
  const mostly = (usual: string, from: readonly string[]): string => (random() < 0.85 ? usual : pick(from));
  let text = '';
  for (let count = Math.ceil(random() * 3); count > 0; count -= 1) {
    const body = random() < 0.5 ? '' : 'x'.repeat(Math.floor(random() * 5));
    const fields = [`Host: ${mostly('a', VALUES)}`];
    if (random() < 0.7) fields.push(`Content-Length: ${mostly(String(body.length), ODD)}`);
    for (let field = Math.floor(random() * 4); field > 0; field -= 1) {
      const name = mostly(`N${field}`, [...NAMES, ...MORE]);
      fields.push(`${name}:${mostly(' ', ['', '  ', '\t'])}${mostly('v', [...VALUES, ...ODD])}`);
    }
    const lines = [
      `${mostly('POST', METHODS)} ${mostly('/a', URLS)} ${mostly('HTTP/1.1', VERSIONS)}`,
      ...fields,
    ];
    text += `${lines.map((line) => line + mostly('\r\n', ENDS)).join('')}${mostly('\r\n', ENDS)}${body}`;
  }
  const bytes = Buffer.from(text, 'latin1');
  if (random() < 0.3) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  return bytes;
}

const CASES = process.env.SEEDS === 'many' ? 200_000 : 4_000;

it('reads of any bytes what node:http reads of them, or leaves them to it', async () => {
  let plain = 0;
  for (let seed = 1; seed <= CASES; seed += 1) {
    const bytes = makeBytes(createRandom(seed));
    const read = readPlain(bytes);
    plain += read.length;
    const there = await readByNode(bytes);
    expect(read, `seed ${seed}: ${JSON.stringify(bytes.toString('latin1'))}`).toEqual(
      there.slice(0, read.length),
    );
  }
  // Otherwise nothing was compared.
  expect(plain).toBeGreaterThan(CASES / 4);
}, 1_200_000);

it('leaves a head that is not complete, or longer than 8 KiB, to node:http', () => {
  const readHead = createHeadReader();
  const head = (filling: number): Buffer =>
    Buffer.from(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(filling)}\r\n\r\n`);
  expect(readHead(head(8_000))).toMatchObject({ method: 'GET', bodyLength: 0 });
  expect(readHead(head(8_200))).toBeNull();
  for (let length = 0; length < head(1).length; length += 1) {
    expect(readHead(head(1).subarray(0, length))).toBeNull();
  }
});
