import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Headers, ResponseParser } from './response-parser.js';

/** What was read; `last`: its connection cannot be used again, `open`: it is not complete. */
interface Read {
  status?: number;
  headers?: Headers;
  body: string;
  state: 'open' | 'more' | 'last';
}

/** Reads one response in pieces of this size, and the end of the connection. Throws what the parser throws. */
function read(text: string, size = Number.POSITIVE_INFINITY, isClosed = true): Read {
  const result: Read = { body: '', state: 'open' };
  const parser = new ResponseParser({
    head: (status, headers) => Object.assign(result, { status, headers: { ...headers } }),
    data: (chunk) => {
      result.body += chunk.toString('latin1');
    },
    end: (isLast) => {
      result.state = isLast ? 'last' : 'more';
    },
  });
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length && result.state === 'open'; at += size) {
    parser.push(bytes.subarray(at, at + size));
  }
  if (isClosed && result.state === 'open') parser.close();
  return result;
}

const SIZES = [1, 2, 3, 7, 1_000];
const head = (rest: string): string => `HTTP/1.1 200 OK\r\n${rest}\r\n\r\n`;

it.each([
  [`${head('Content-Length: 3')}abc`, 200, 'abc', 'more'],
  [`${head('Content-Length: 3\r\nConnection: keep-alive, Close')}abc`, 200, 'abc', 'last'],
  ['HTTP/1.0 200 OK\r\ncontent-length:3\r\n\r\nabc', 200, 'abc', 'last'],
  [head('Content-Length: 0'), 200, '', 'more'],
  ['HTTP/1.1 204\r\n\r\n', 204, '', 'more'],
  ['HTTP/1.1 304 \r\nContent-Length: 0\r\n\r\n', 304, '', 'more'],
  ['HTTP/1.1 103 Early\r\nlink: a\r\n\r\nHTTP/1.1 429 Slow\r\ncontent-length: 1\r\n\r\nx', 429, 'x', 'more'],
  [
    `${head('Transfer-Encoding: CHUNKED')}3\r\nabc\r\nA ;a=b\r\n0123456789\r\n00\r\n\r\n`,
    200,
    'abc0123456789',
    'more',
  ],
  [`${head('Transfer-Encoding: chunked')}1\r\na\r\n0\r\nDigest: x\r\n\r\n`, 200, 'a', 'more'],
  [`${head('X: y')}all until the end`, 200, 'all until the end', 'last'],
])('reads %j, in any pieces', (text, status, body, state) => {
  for (const size of SIZES) expect(read(text, size)).toMatchObject({ status, body, state });
});

it('names headers in lower case, and keeps all of one name', () => {
  const { headers } = read(`${head('Retry-After: \t60 \r\nVia: a\r\nVIA: b\r\nContent-Length: 0')}`);
  expect(headers).toEqual({ 'retry-after': '60', via: ['a', 'b'], 'content-length': '0' });
});

it('takes what comes behind a response for no other one', () => {
  expect(read(`${head('Content-Length: 3')}abcd`)).toMatchObject({ body: 'abc', state: 'last' });
});

it.each([
  ['HTTP/2 200 OK\r\n\r\n'],
  ['HTTP/1.1 20 OK\r\n\r\n'],
  ['HTTP/1.1 100 Continue\r\n\r\n'],
  ['HTTP/1.1 101 Switching\r\n\r\n'],
  ['HTTP/1.1 204 No\r\ncontent-length: 1\r\n\r\n'],
  ['HTTP/1.1 304 No\r\ntransfer-encoding: chunked\r\n\r\n'],
  [head('no header')],
  [head('a: b\r\n folded: c')],
  [head('a : b')],
  [head('a: b\nc: d')],
  [head('a: \0')],
  [head('content-length: 3\r\ncontent-length: 3')],
  [head('content-length: 3, 3')],
  [head('content-length: +3')],
  [head('content-length: -1')],
  [head('content-length: 9999999999999999')],
  [head('content-length: 3\r\ntransfer-encoding: chunked')],
  [head('transfer-encoding: gzip, chunked')],
  [head('transfer-encoding: chunked\r\ntransfer-encoding: chunked')],
  ['HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  [`${head('transfer-encoding: chunked')}3\r\nabcd\r\n0\r\n\r\n`],
  [`${head('transfer-encoding: chunked')}3\nabc\r\n0\r\n\r\n`],
  [`${head('transfer-encoding: chunked')}g\r\n`],
  [`${head('transfer-encoding: chunked')}\r\n`],
  [`${head('transfer-encoding: chunked')}1${'0'.repeat(12)}\r\n`],
  [`${head('transfer-encoding: chunked')}0\r\nno trailer\r\n\r\n`],
  [`${head('transfer-encoding: chunked')}1;${'x'.repeat(2_000)}\r\na\r\n`],
  [`${head('transfer-encoding: chunked')}0\r\n${`a: ${'x'.repeat(900)}\r\n`.repeat(20)}\r\n`],
  [head(`a: ${'x'.repeat(20_000)}`)],
  ['x'.repeat(20_000)],
])('refuses response %#, which is not written as it should be, in any pieces', (text) => {
  for (const size of SIZES) expect(() => read(text, size)).toThrow();
});

it('takes no response for complete that is cut off, at any of its bytes', () => {
  for (const text of [
    `${head('Content-Length: 3')}abc`,
    `${head('Transfer-Encoding: chunked')}3\r\nabc\r\n0\r\nA: b\r\n\r\n`,
  ]) {
    for (let length = 0; length < text.length; length++)
      expect(read(text.slice(0, length)).state).toBe('open');
  }
});

it('reads chunks of any sizes in any pieces', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 300, unit: 'binary-ascii' })),
      fc.nat(400),
      (parts, size) => {
        const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
        const result = read(`${head('Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`, size + 1);
        expect(result).toMatchObject({ body: parts.join(''), state: 'more' });
      },
    ),
    { numRuns: 300 },
  );
});
