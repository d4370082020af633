import type { FastifyInstance } from 'fastify';
import type { GatewayParts } from './gateway-parts.js';

const schema = {
  summary: 'Metrics in the Prometheus text format',
  tags: ['operation'],
  response: {
    200: { description: 'The metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
  },
} as const;

/** `GET /metrics`. */
export function metricsRoute(app: FastifyInstance, parts: GatewayParts): void {
  const { metrics } = parts.context;
  const caches = metrics.gauge('packhouse_gateway_cache_bytes', 'Bytes that a cache holds.', ['cache']);
  app.get('/metrics', { schema }, async (request, reply) => {
    request.visit.route = 'metrics';
    for (const [cache, { bytes }] of Object.entries(parts.caches())) caches.set({ cache }, bytes);
    return reply.type(metrics.contentType).send(await metrics.render());
  });
}
