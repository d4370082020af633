import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { servePlain } from '../plain-http/plain-connection.js';
import { createContentCodings } from './content-coding.js';
import { Exchange } from './exchange.js';
import { createPacer } from './paced-pieces.js';

const codings = createContentCodings();
let server: Server;
let isPlain: boolean;
let client: Socket;
afterEach(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

/** Starts a server whose answers are sent by `answer`; returns what each exchange said of its end, in order. */
async function serve(answer: (exchange: Exchange, n: number) => void): Promise<Promise<boolean>[]> {
  const ends: Promise<boolean>[] = [];
  server = createServer((request, response) => {
    const exchange = new Exchange(request, response, {
      nextId: () => '1',
      toAddress: () => '',
      codings,
      pacer: createPacer(),
    });
    ends.push(new Promise((resolve) => exchange.whenSent(resolve)));
    answer(exchange, ends.length);
  });
  if (isPlain) servePlain(server, { refuseSlow: (socket) => socket.destroy(), checkMs: 5_000 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  return ends;
}

const ASKED = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

describe.each([
  ['node:http', false],
  ['a plain connection', true],
])('an exchange on %s', (_, plain) => {
  beforeEach(() => {
    isPlain = plain;
  });

  it('says of each answer on a connection that it was sent', async () => {
    const sends: ((exchange: Exchange) => void)[] = [
      (exchange) => exchange.sendText('x', 'text/plain'),
      (exchange) => exchange.sendBuffer(Buffer.alloc(2_000_000)),
      (exchange) => exchange.sendStream(Readable.from([Buffer.alloc(500_000), Buffer.alloc(500_000)])),
      (exchange) => exchange.sendParts('[', [Buffer.alloc(300_000), Buffer.alloc(300_000)], ']'),
      (exchange) => exchange.status(204).sendNothing(),
    ];
    const ends = await serve((exchange, n) => sends[n - 1]?.(exchange));
    client.resume().write(ASKED.repeat(sends.length));
    await expect.poll(() => ends.length).toBe(sends.length);
    expect(await Promise.all(ends)).toEqual(sends.map(() => true));
  });

  it('says of an answer that was not read to its end that it was not sent', async () => {
    const ends = await serve((exchange) => exchange.sendBuffer(Buffer.alloc(50_000_000)));
    client.pause().write(ASKED);
    client.once('readable', () => client.destroy());
    await expect.poll(() => ends.length).toBe(1);
    expect(await ends[0]).toBe(false);
  });

  it('says of an answer to a client that is gone that it was not sent, whenever it is asked', async () => {
    let given: Exchange | undefined;
    const ends = await serve((exchange) => {
      given = exchange;
    });
    client.write(ASKED);
    await expect.poll(() => given).toBeDefined();
    client.destroy();
    expect(await ends[0]).toBe(false);
    given?.sendText('x', 'text/plain');
    expect(await new Promise((resolve) => given?.whenSent(resolve))).toBe(false);
  });

  it('ends a stream whose reader is gone, and the connection of a stream that fails', async () => {
    let ended = false;
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) yield Buffer.alloc(100_000);
      } finally {
        ended = true;
      }
    }
    async function* failing(): AsyncGenerator<Buffer> {
      yield Buffer.from('x');
      throw new Error('broken');
    }
    const ends = await serve((exchange, n) => exchange.sendStream(n === 1 ? failing() : endless()));
    client.resume().write(ASKED);
    await once(client, 'close');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.pause().write(ASKED);
    client.once('readable', () => client.destroy());
    await expect.poll(() => ended).toBe(true);
    expect(await Promise.all(ends)).toEqual([false, false]);
  });

  it('cuts the connection of a body of another length than its head says, never sends more, and says so', async () => {
    const told: (readonly [string, unknown])[] = [];
    let made: Buffer[] = [];
    let length = 0;
    await serve((exchange, n) => {
      if (exchange.path === '/next') return exchange.sendText('next', 'text/plain');
      exchange.response.on('close', () => told.push([exchange.refusal, exchange.failure]));
      exchange.header('content-length', length).sendStream(Readable.from(made), n % 2 === 0);
    });
    const { port } = server.address() as AddressInfo;
    for (const [sizes, more] of LENGTHS) {
      made = sizes.map((size, at) => Buffer.alloc(size, 97 + at));
      const body = Buffer.concat(made);
      length = body.length + more;
      client.destroy();
      client = connect(port, '127.0.0.1').on('error', () => undefined);
      let text = '';
      client.setEncoding('latin1').on('data', (chunk: string) => {
        text += chunk;
      });
      const ended = once(client, 'close');
      client.write(ASKED + ASKED.replace('/', '/next'));
      const whole = body.toString('latin1');
      const name = `pieces of ${sizes.join(', ')} bytes, announced ${length}`;
      if (more === 0) {
        await expect.poll(() => text, { message: name }).toMatch(/\r\n\r\nnext$/);
        expect(text.split('\r\n\r\n')[1], name).toMatch(new RegExp(`^${whole}HTTP/1.1 200`));
        continue;
      }
      await ended;
      const [, sent = ''] = text.split('\r\n\r\n');
      expect(sent.length, name).toBeLessThan(length + 1);
      expect(whole.startsWith(sent), name).toBe(true);
      expect(text, name).not.toContain('next');
      expect(told.at(-1), name).toMatchObject(['internal', { code: 'INTERNAL' }]);
    }
  });
});

/** Sizes of the pieces of a body, and how many bytes more its head announces. */
const LENGTHS: readonly (readonly [number[], number])[] = [
  [1_000],
  [1, 999],
  [300, 300, 400],
  [0, 5, 0],
  [],
].flatMap((sizes) =>
  [-1_000, -400, -1, 0, 1, 3_000].flatMap((more) => {
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return bytes + more < 0 ? [] : [[sizes, more] as const];
  }),
);
