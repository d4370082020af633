import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { startMetrics } from './metrics-server.js';
import { createLogger } from './observe/logger.js';
import { collectProcessMetrics, createMetrics } from './observe/metrics.js';
import type { ProcessMessage } from './run-process.js';
import { createShutdown } from './shutdown.js';
import { systemClock } from './time/clock.js';

function parts() {
  const logger = createLogger({ name: 'test', level: 'silent' });
  const shutdown = createShutdown({ logger });
  const told: ProcessMessage[] = [];
  const context = { logger, metrics: createMetrics(), clock: systemClock, signal: shutdown.signal };
  return { context, shutdown, told, notify: (message: ProcessMessage) => void told.push(message) };
}
const HOST = { METRICS_HOST: '127.0.0.1' };

it('serves the metrics and a sign of life, and nothing else', async () => {
  const at = parts();
  const { metrics } = at.context;
  metrics.counter('packhouse_blocks_total', 'Blocks').inc(3);
  await startMetrics(at, { ...HOST, METRICS_PORT: 'any' });
  const [{ port }] = at.told as [{ type: 'metrics'; port: number }];
  const get = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
  const answer = await get('/metrics');
  expect(answer.headers.get('content-type')).toBe(metrics.contentType);
  expect(await answer.text()).toContain('packhouse_blocks_total 3');
  expect(await (await get('/healthz')).text()).toBe('ok\n');
  expect((await get('/else')).status).toBe(404);
  await at.shutdown.run('test');
});

it('takes any free port and tells which; what a process says of itself is there; a reader that stays is cut off', async () => {
  const at = parts();
  collectProcessMetrics(at.context.metrics);
  await startMetrics(at, { ...HOST, METRICS_PORT: 'any' });
  const [message] = at.told as [{ type: 'metrics'; port: number }];
  const answer = await fetch(`http://127.0.0.1:${message.port}/metrics`, {
    headers: { connection: 'keep-alive' },
  });
  const text = await answer.text();
  for (const name of [
    'process_resident_memory_bytes',
    'process_start_time_seconds',
    'nodejs_eventloop_lag_p99_seconds',
  ])
    expect(text).toMatch(new RegExp(`^${name} [\\d.e+-]+$`, 'm'));
  expect(await at.shutdown.run('test')).toEqual({ clean: true });
  await expect(fetch(`http://127.0.0.1:${message.port}/metrics`)).rejects.toThrow();
});

it('serves nothing at port 0', async () => {
  const at = parts();
  await startMetrics(at, { ...HOST, METRICS_PORT: 0 });
  expect(at.told).toEqual([]);
});

it('names a port that is taken, and the setting that asked for it', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  await expect(startMetrics(parts(), { ...HOST, METRICS_PORT: port })).rejects.toMatchObject({
    code: 'PORT_IN_USE',
    message: `Port ${port} of 127.0.0.1, which METRICS_PORT names, is in use.`,
    cause: { code: 'EADDRINUSE' },
  });
  other.close();
});
