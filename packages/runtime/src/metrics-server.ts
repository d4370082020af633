import { createServer } from 'node:http';
import type { Metrics } from './metrics.js';

/** Serves /metrics and /healthz of a worker process. Resolves when it listens, port 0 being any; `close` ends it. */
export async function serveMetrics(
  metrics: Metrics,
  port: number,
  host = '0.0.0.0',
): Promise<{ port: number; close(): Promise<void> }> {
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
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Whoever reads metrics may stay connected: nothing of theirs is worth waiting for.
        server.closeAllConnections();
      }),
  };
}
