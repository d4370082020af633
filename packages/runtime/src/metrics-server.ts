import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PackhouseError } from './catalogue.js';
import type { Context } from './context.js';
import type { Metrics } from './observe/metrics.js';
import type { ProcessMessage } from './run-process.js';
import type { Shutdown } from './shutdown.js';

/**
 * Serves /metrics and /healthz of a process as set: at a port, at `any` free one, which is reported to the supervisor,
 * or not at all (0). Throws PORT_IN_USE.
 */
export async function startMetrics(
  parts: { context: Context; shutdown: Shutdown; notify(message: ProcessMessage): void },
  settings: { METRICS_PORT: number | 'any'; METRICS_HOST: string },
): Promise<void> {
  const { METRICS_PORT: wanted, METRICS_HOST: host } = settings;
  if (wanted === 0) return;
  try {
    const server = await serve(parts.context.metrics, wanted === 'any' ? 0 : wanted, host);
    parts.shutdown.add('metrics', () => server.close());
    parts.context.logger.info({ host, port: server.port }, 'serving metrics');
    parts.notify({ type: 'metrics', port: server.port });
  } catch (error) {
    if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
    throw new PackhouseError({
      code: 'PORT_IN_USE',
      message: `Port ${wanted} of ${host}, which METRICS_PORT names, is in use.`,
      hint: 'Set METRICS_PORT to another one, to any, or to 0 for no metrics.',
      cause: error,
    });
  }
}

async function serve(metrics: Metrics, port: number, host: string) {
  const server = createServer((request, response) => {
    if (request.url === '/healthz') response.end('ok\n');
    else if (request.url === '/metrics') {
      metrics.render().then(
        (text) => response.setHeader('content-type', metrics.contentType).end(text),
        () => response.writeHead(500).end(),
      );
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        // A client may stay connected; there is no reason to wait for it.
        server.closeAllConnections();
      }),
  };
}
