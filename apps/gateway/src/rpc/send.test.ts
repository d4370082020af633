import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createContentCodings } from '../http/content-coding.js';
import { Exchange } from '../http/exchange.js';
import { createPacer } from '../http/paced-pieces.js';
import { sendAnswer } from './send.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

it('cuts off a client that does not read its answer, and leaves one alone that did', async () => {
  const server = createServer((request, response) => {
    const exchange = new Exchange(request, response, {
      nextId: () => '1',
      toAddress: () => '',
      codings: createContentCodings(),
      pacer: createPacer(),
    });
    const bytes = Buffer.alloc(request.url === '/slow' ? 64_000_000 : 100_000, '1');
    sendAnswer(exchange, '1', { kind: 'result', body: { bytes, rest: null } });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const read = await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
  expect(read.byteLength).toBeGreaterThan(100_000);

  const socket = connect(port, '127.0.0.1');
  socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n');
  let bytes = 0;
  const [answer] = await once(server, 'request').then(([, response]) => [response]);
  const closed = once(answer, 'close');
  vi.advanceTimersByTime(120_000);
  await closed;
  socket
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
  await once(socket, 'close');
  expect(bytes).toBeLessThan(64_000_000);
  server.closeAllConnections();
  server.close();
});
