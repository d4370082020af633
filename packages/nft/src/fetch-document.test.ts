import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFetchDocument, type FetchPolicy } from './fetch-document.js';
import { DOCUMENT_BYTES } from './token-document.js';

const PUBLIC = '93.184.216.34';
let server: Server;
let port: number;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let seen: IncomingMessage[];
let dialled: { address: string; port: number }[];
let names: Record<string, string[]>;
let asked: string[];
let stop: AbortController;

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  [seen, dialled, asked, names] = [[], [], [], { 'a.example': [PUBLIC], 'b.example': [PUBLIC] }];
  stop = new AbortController();
  answer = (_, response) => response.end('{"name":"it"}');
});
afterEach(() => server.closeAllConnections());

const fetched = async (url: string, policy: Partial<FetchPolicy> = {}) => {
  const fetchDocument = createFetchDocument({
    allowHttp: true,
    resolve: async (host) => {
      asked.push(host);
      return names[host] ?? [];
    },
    dial: (target) => {
      dialled.push(target);
      return { address: '127.0.0.1', port };
    },
    ...policy,
  });
  const found = await fetchDocument(new URL(url), stop.signal);
  return 'bytes' in found ? found.bytes.toString() : found.outcome;
};

it('fetches a document with no header of ours and a connection of its own', async () => {
  expect(await fetched('http://a.example/1?x=y')).toBe('{"name":"it"}');
  expect(dialled).toEqual([{ address: PUBLIC, port: 80 }]);
  expect(seen[0]?.url).toBe('/1?x=y');
  expect(seen[0]?.headers).toEqual({
    host: 'a.example',
    connection: 'close',
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate, br',
  });
});

describe('an address that is not public is never connected to', () => {
  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://0/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[fd00:ec2::254]/',
    'http://127。0。0。1/',
  ])('%s', async (url) => {
    expect(await fetched(url)).toBe('unreachable');
    expect(dialled).toEqual([]);
  });

  it.each([[['127.0.0.1']], [['10.0.0.1']], [['::1']], [[PUBLIC, '10.0.0.1']], [['10.0.0.1', PUBLIC]], [[]]])(
    'nor a name that has %j',
    async (addresses) => {
      names['a.example'] = addresses;
      expect(await fetched('http://a.example/')).toBe('unreachable');
      expect(dialled).toEqual([]);
    },
  );

  it('a name that changes its mind after the check gets no second look', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']];
    const resolve = async () => answers.shift() ?? ['127.0.0.1'];
    answer = ({ url }, response) => {
      if (url === '/1') response.writeHead(302, { location: '/2' }).end();
      else response.end('{"secret":true}');
    };
    expect(await fetched('http://a.example/1', { resolve })).toBe('unreachable');
    expect(dialled).toEqual([{ address: PUBLIC, port: 80 }]);
    expect(seen.map(({ url }) => url)).toEqual(['/1']);
  });

  it('no other ports than 80 and 443 are connected to, whoever names them', async () => {
    expect(await fetched('http://a.example:22/')).toBe('unreachable');
    expect(dialled).toEqual([]);
  });
});

describe('redirects', () => {
  it('are followed three times, each over a connection of its own', async () => {
    answer = ({ url }, response) => {
      const n = Number(url?.slice(1));
      if (n < 3) response.writeHead(302, { location: `http://${n % 2 ? 'a' : 'b'}.example/${n + 1}` }).end();
      else response.end('{}');
    };
    expect(await fetched('http://a.example/0')).toBe('{}');
    expect(asked).toEqual(['a.example', 'b.example', 'a.example', 'b.example']);
    expect(new Set(seen.map(({ socket }) => socket)).size).toBe(4);
  });

  it('are not followed a fourth time', async () => {
    answer = (_, response) => response.writeHead(301, { location: '/again' }).end();
    expect(await fetched('http://a.example/')).toBe('unreachable');
    expect(seen).toHaveLength(4);
  });

  it.each([
    'http://127.0.0.1/',
    'http://169.254.169.254/latest/',
    'http://[::ffff:10.0.0.1]/',
    'http://inside.example/',
    'http://a.example:8080/',
    'http://user:pass@a.example/',
    'file:///etc/passwd',
    'ftp://a.example/',
    '//127.0.0.1/',
    'http://',
  ])('to %s are not followed', async (location) => {
    names['inside.example'] = ['192.168.0.1'];
    answer = (_, response) => response.writeHead(302, { location }).end();
    expect(await fetched('http://a.example/')).toBe('unreachable');
    expect(seen).toHaveLength(1);
    expect(dialled).toHaveLength(1);
  });

  it('to http: are not followed where only https: is allowed', async () => {
    answer = (_, response) => response.writeHead(302, { location: 'http://b.example/' }).end();
    expect(await fetched('http://a.example/', { allowHttp: false })).toBe('unreachable');
    expect(seen).toHaveLength(1);
  });
});

describe('what is too large', () => {
  const large = Buffer.alloc(64 * DOCUMENT_BYTES, ' ');
  it.each([
    ['gzip', gzipSync(large)],
    ['deflate', deflateSync(large)],
    ['br', brotliCompressSync(large.subarray(0, 8 * DOCUMENT_BYTES))],
  ])('is not decompressed beyond the limit: %s', async (encoding, body) => {
    expect(body.length).toBeLessThan(DOCUMENT_BYTES);
    answer = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body);
    expect(await fetched('http://a.example/')).toBe('too_large');
  });

  it('is not read where its length was said', async () => {
    answer = (_, response) =>
      response.writeHead(200, { 'content-length': DOCUMENT_BYTES + 1 }).flushHeaders();
    expect(await fetched('http://a.example/')).toBe('too_large');
  });

  it('is not read beyond the limit where it was not', async () => {
    answer = (_, response) => {
      const more = (): void => {
        while (response.write(large.subarray(0, 65_536)));
        response.once('drain', more);
      };
      more();
    };
    expect(await fetched('http://a.example/')).toBe('too_large');
  });

  it('begins one byte above a mebibyte', async () => {
    answer = (_, response) => response.end(large.subarray(0, DOCUMENT_BYTES));
    expect(await fetched('http://a.example/')).toHaveLength(DOCUMENT_BYTES);
    answer = (_, response) =>
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(large.subarray(0, DOCUMENT_BYTES)));
    expect(await fetched('http://a.example/')).toHaveLength(DOCUMENT_BYTES);
  });
});

describe('servers that do not answer as they should', () => {
  it.each([
    ['compressed bytes that are none', 'invalid_json', 200, { 'content-encoding': 'gzip' }],
    ['an encoding that nobody asked for', 'invalid_json', 200, { 'content-encoding': 'zstd' }],
    ['encodings in layers', 'invalid_json', 200, { 'content-encoding': 'gzip, gzip' }],
    [
      'an encoding named like a member of every object',
      'invalid_json',
      200,
      { 'content-encoding': 'constructor' },
    ],
    ['too many requests', 'throttled', 429, {}],
    ['come later', 'throttled', 503, { 'retry-after': '5' }],
    ['not found', 'unreachable', 404, {}],
    ['a fault', 'unreachable', 500, {}],
    ['a redirect to nowhere', 'unreachable', 302, {}],
  ])('%s: %s', async (_, outcome, status, headers) => {
    answer = (__, response) => response.writeHead(status, headers as Record<string, string>).end('abc');
    expect(await fetched('http://a.example/')).toBe(outcome);
  });

  it('one that hangs up is unreachable', async () => {
    answer = ({ socket }) => socket.destroy();
    expect(await fetched('http://a.example/')).toBe('unreachable');
    answer = ({ socket }, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{', () => socket.destroy());
    };
    expect(await fetched('http://a.example/')).toBe('unreachable');
  });

  it('one that speaks no TLS is unreachable over https', async () => {
    expect(await fetched('https://a.example/')).toBe('unreachable');
    expect(dialled).toEqual([{ address: PUBLIC, port: 443 }]);
  });

  it('one whose body never ends is not waited for beyond the time for all hops', async () => {
    let timer: NodeJS.Timeout | undefined;
    answer = (_, response) => {
      timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    };
    expect(await fetched('http://a.example/', { timeoutMs: 300 })).toBe('unreachable');
    answer = () => undefined;
    expect(await fetched('http://a.example/', { timeoutMs: 300 })).toBe('unreachable');
  });

  it('nor a name that is never resolved', async () => {
    const resolve = (): Promise<string[]> => new Promise(() => undefined);
    expect(await fetched('http://a.example/', { timeoutMs: 300, resolve })).toBe('unreachable');
  });
});

it('is given up where nobody wants it any more', async () => {
  answer = () => stop.abort(new Error('enough'));
  await expect(fetched('http://a.example/')).rejects.toThrow('enough');
});
