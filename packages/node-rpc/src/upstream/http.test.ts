import { createServer } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import type { Upstream } from '@packhouse/networks';
import { afterEach, expect, it, vi } from 'vitest';
import { createHttp } from './http.js';

const opened: Server[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of opened.splice(0)) await new Promise((resolve) => server.close(resolve));
});

async function listen(server: Server): Promise<string> {
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A node, and a proxy whose tunnels all lead to it. */
async function startBoth(): Promise<{ node: string; proxy: string; tunnels: string[] }> {
  const node = await listen(createServer((_, answer) => answer.end('{"result":"0x1"}')));
  const tunnels: string[] = [];
  const proxying = createServer().on('connect', ({ url }, socket: Socket) => {
    tunnels.push(url ?? '');
    const onward = connect(Number(new URL(node).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const end of [socket, onward]) end.on('error', () => undefined);
  });
  return { node, proxy: await listen(proxying), tunnels };
}

async function post(url: string): Promise<number> {
  const upstream = { url, headers: {} } as Partial<Upstream> as Upstream;
  const http = createHttp({ upstream, timeoutMs: 10_000 });
  try {
    return (await http.post('{}', { signal: new AbortController().signal, maxBytes: 1_000 })).status;
  } finally {
    await http.destroy();
  }
}

it('asks a node through the proxy of the environment, and those of NO_PROXY without', async () => {
  const { node, proxy, tunnels } = await startBoth();
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy', 'HTTPS_PROXY']) vi.stubEnv(name, undefined);
  vi.stubEnv('HTTP_PROXY', proxy);
  vi.stubEnv('NO_PROXY', '127.0.0.1');
  expect(await post('http://node.invalid:8545/rpc')).toBe(200);
  expect(await post(node)).toBe(200);
  expect(tunnels).toEqual(['node.invalid:8545']);
});
