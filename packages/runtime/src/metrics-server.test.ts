import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createMetrics } from './metrics.js';
import { serveMetrics } from './metrics-server.js';

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

it('serves the metrics and a sign of life, and nothing else', async () => {
  const metrics = createMetrics();
  metrics.counter('packhouse_blocks_total', 'Blocks').inc(3);
  const server = await serveMetrics(metrics, 0, '127.0.0.1');
  close = server.close;
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { connection: 'close' } });
  const answer = await get('/metrics');
  expect(answer.headers.get('content-type')).toBe(metrics.contentType);
  expect(await answer.text()).toContain('packhouse_blocks_total 3');
  expect(await (await get('/healthz')).text()).toBe('ok\n');
  expect((await get('/else')).status).toBe(404);
});

it('rejects when the port is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  await expect(serveMetrics(createMetrics(), port, '127.0.0.1')).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  other.close();
});
