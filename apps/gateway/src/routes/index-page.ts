import type { Route } from '../http/router.js';
import type { GatewayParts } from './gateway-parts.js';

const text = { type: 'string' } as const;

const schema = {
  summary: 'The networks and their addresses',
  tags: ['operation'],
  response: {
    200: {
      description: 'What is served here.',
      type: 'object',
      required: ['name', 'openapi', 'networks'],
      properties: {
        name: text,
        openapi: { ...text, description: 'Path of the OpenAPI document.' },
        networks: {
          type: 'array',
          items: {
            type: 'object',
            required: ['id', 'chain_id', 'base_url', 'download_url', 'kinds'],
            properties: {
              id: text,
              chain_id: { type: 'integer' },
              base_url: text,
              download_url: text,
              kinds: { type: 'array', items: text, description: 'Kinds of data; empty: no bundles.' },
            },
          },
        },
      },
    },
  },
} as const;

/** `GET /`: what is served here. */
export function indexPageRoute(parts: GatewayParts): Route {
  return {
    method: 'GET',
    path: '/',
    name: 'index',
    schema,
    answer: (exchange) =>
      exchange.sendJson({
        name: 'packhouse',
        openapi: '/openapi.json',
        networks: parts.sites.map(({ network, baseUrl, downloadUrl }) => ({
          id: network.id,
          chain_id: network.chainId,
          base_url: baseUrl,
          download_url: downloadUrl,
          kinds: network.bundles.enabled ? network.bundles.kinds : [],
        })),
      }),
  };
}
