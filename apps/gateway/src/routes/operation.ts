import type { Route } from '../http/router.js';
import type { ServedNetwork } from '../networks/served-network.js';
import type { GatewayParts } from './gateway-parts.js';

const text = { type: 'string' } as const;

const indexSchema = {
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

/** `GET /`: the networks and their addresses. */
export function indexPageRoute(served: readonly ServedNetwork[]): Route {
  return {
    method: 'GET',
    path: '/',
    name: 'index',
    schema: indexSchema,
    answer: (exchange) =>
      exchange.sendJson({
        name: 'packhouse',
        openapi: '/openapi.json',
        networks: served.map(({ network, baseUrl, downloadUrl }) => ({
          id: network.id,
          chain_id: network.chainId,
          base_url: baseUrl,
          download_url: downloadUrl,
          kinds: network.bundles.enabled ? network.bundles.kinds : [],
        })),
      }),
  };
}

const healthSchema = {
  summary: 'Whether the process lives',
  tags: ['operation'],
  response: {
    200: {
      description: 'It does.',
      type: 'object',
      required: ['status'],
      properties: { status: { type: 'string', enum: ['ok'] } },
    },
  },
} as const;

/** `GET /healthz`: asks no other service, so that the gateway is not restarted because Postgres is away. */
export const healthzRoute: Route = {
  method: 'GET',
  path: '/healthz',
  name: 'healthz',
  schema: healthSchema,
  forOperators: true,
  answer: (exchange) => exchange.sendJson({ status: 'ok' }),
};

/** How long each check may take, and how long its result is reused, in milliseconds. */
const CHECK_TIMEOUT_MS = 2_000;
const REUSE_MS = 1_000;

/** An object that is never written; asking for it shows whether the store answers. */
const PROBE_KEY = 'readiness-probe';

const checks = {
  type: 'object',
  required: ['status', 'database', 'objectStore', 'rangeIndex', 'draining', 'networksFile'],
  properties: {
    status: { type: 'string', enum: ['ready', 'not ready'] },
    database: { type: 'boolean' },
    objectStore: { type: 'boolean' },
    rangeIndex: {
      type: 'boolean',
      description: 'Whether as much of the range index is loaded as WARM_LIMIT_MS and RANGE_CACHE let it.',
    },
    draining: { type: 'boolean' },
    networksFile: {
      type: 'boolean',
      description:
        'Whether the networks file is in force as it is; if not, what was in force before still is.',
    },
  },
} as const;

const readySchema = {
  summary: 'Whether requests should be sent here',
  tags: ['operation'],
  response: {
    200: { description: 'They should.', ...checks },
    503: { description: 'They should not.', ...checks },
  },
} as const;

/** `GET /readyz`: Postgres and the object store answer, the range index is loaded, and the gateway is not draining. */
export function readyzRoute(parts: GatewayParts): Route {
  const { clock } = parts.context;
  const pingDatabase = oneAtATime(() => parts.database.ping());
  const probeStore = oneAtATime(() => parts.objectStore.head(PROBE_KEY).then(() => true));
  let last: { at: number; answer: Promise<[boolean, boolean]> } | undefined;
  const check = (): Promise<[boolean, boolean]> => {
    const now = clock.elapsed();
    if (last === undefined || now - last.at >= REUSE_MS) {
      last = { at: now, answer: Promise.all([answers(pingDatabase()), answers(probeStore())]) };
    }
    return last.answer;
  };
  return {
    method: 'GET',
    path: '/readyz',
    name: 'readyz',
    schema: readySchema,
    whileDraining: true,
    forOperators: true,
    async answer(exchange) {
      const [database, objectStore] = await check();
      const { leaving: draining, warming } = parts.phase;
      const ready = database && objectStore && !warming && !draining;
      const status = ready ? 'ready' : 'not ready';
      exchange
        .status(ready ? 200 : 503)
        .header('cache-control', 'no-store')
        .sendJson({
          ...{ status, database, objectStore, rangeIndex: !warming, draining },
          networksFile: parts.networksFileOk(),
        });
    },
  };
}

/** Shares a check that is still under way: what hangs holds one thread or connection, however often it is asked. */
function oneAtATime(check: () => Promise<boolean>): () => Promise<boolean> {
  let underWay: Promise<boolean> | undefined;
  return () => {
    underWay ??= check().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

async function answers(check: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check, late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

const metricsSchema = {
  summary: 'Metrics in the Prometheus text format',
  tags: ['operation'],
  response: {
    200: { description: 'The metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
  },
} as const;

/** `GET /metrics`. */
export function metricsRoute(parts: GatewayParts): Route {
  const { metrics } = parts.context;
  return {
    method: 'GET',
    path: '/metrics',
    name: 'metrics',
    schema: metricsSchema,
    forOperators: true,
    async answer(exchange) {
      exchange.sendText(await metrics.render(), metrics.contentType);
    },
  };
}
