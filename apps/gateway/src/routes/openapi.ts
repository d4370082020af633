import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { GatewayParts } from './gateway-parts.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How a route that every network has is documented: once, relative to the networks' addresses. */
    document?: { path: string; servedAt: 'baseUrl' | 'downloadUrl' };
    /** Answered while the gateway drains. */
    whileDraining?: boolean;
  }
}

/** Registers the generator; must come before all routes. */
export async function describeRoutes(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Packhouse gateway',
        description: 'Verified blockchain history in bulk: pointers to files, and the files.',
        version: '1',
      },
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    },
    transform: ({ schema, url, route }) => ({ schema, url: route.config?.document?.path ?? url }),
  });
}

/** `GET /openapi.json`: the OpenAPI 3.1 document, with the addresses that the networks have here. */
export function openapiRoute(app: FastifyInstance, parts: GatewayParts): void {
  const servedAt = new Map<string, 'baseUrl' | 'downloadUrl'>();
  app.addHook('onRoute', ({ config }) => {
    if (config?.document !== undefined) servedAt.set(config.document.path, config.document.servedAt);
  });
  const schema = {
    summary: 'This document',
    tags: ['operation'],
    response: { 200: { description: 'OpenAPI 3.1.', type: 'object', additionalProperties: true } },
  } as const;
  let text: string | undefined;
  app.get('/openapi.json', { schema }, (request, reply) => {
    request.visit.route = 'openapi';
    text ??= JSON.stringify(documentOf(app, parts, servedAt));
    reply.type('application/json').send(text);
  });
}

interface Operation {
  operationId?: string;
}

/** The generated document, with the addresses of the networks; HEAD is not told apart from GET. */
function documentOf(
  app: FastifyInstance,
  parts: GatewayParts,
  servedAt: ReadonlyMap<string, 'baseUrl' | 'downloadUrl'>,
): object {
  const document = structuredClone(app.swagger()) as unknown as {
    paths: Record<string, { get?: Operation; head?: Operation; servers?: object[] }>;
  };
  for (const [path, item] of Object.entries(document.paths)) {
    delete item.head;
    const address = servedAt.get(path);
    if (address === undefined) continue;
    item.servers = parts.sites.map((site) => ({
      url: site[address].replace(/\/$/, ''),
      description: site.network.id,
    }));
  }
  return document;
}
