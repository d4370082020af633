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
});
