import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { limitSending } from './limit-sending.js';

it('cuts off a client that does not read its answer, and leaves one alone that did', async () => {
  const server = createServer((request, response) => {
    limitSending(response, request.url === '/slow' ? 50 : 60_000);
    response.end(Buffer.alloc(request.url === '/slow' ? 64_000_000 : 10));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect((await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer()).byteLength).toBe(10);

  const socket = connect(port, '127.0.0.1');
  socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n');
  let bytes = 0;
  const [answer] = await once(server, 'request').then(([, response]) => [response]);
  await once(answer, 'close');
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
