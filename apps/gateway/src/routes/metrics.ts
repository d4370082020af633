import type { Route } from '../http/router.js';
import type { GatewayParts } from './gateway-parts.js';

const schema = {
  summary: 'Metrics in the Prometheus text format',
  tags: ['operation'],
  response: {
    200: { description: 'The metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
  },
} as const;

/** `GET /metrics`. */
export function metricsRoute(parts: GatewayParts): Route {
  const { metrics } = parts.context;
  const caches = metrics.gauge('packhouse_gateway_cache_bytes', 'Bytes that a cache holds.', ['cache']);
  return {
    method: 'GET',
    path: '/metrics',
    name: 'metrics',
    schema,
    forOperators: true,
    async answer(exchange) {
      for (const [cache, { bytes }] of Object.entries(parts.caches())) caches.set({ cache }, bytes);
      exchange.sendText(await metrics.render(), metrics.contentType);
    },
  };
}
