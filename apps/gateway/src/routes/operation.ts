import { probeStore } from '@packhouse/object-store';
import { isPackhouseError, PackhouseError, shareRun, withinMs } from '@packhouse/runtime';
import { createTtlCache } from '../cache/ttl-cache.js';
import type { Route } from '../http/route.js';
import { areBelowServer, type ServedNetwork } from '../networks/served-network.js';
import type { GatewayParts } from './common/gateway-parts.js';
import { described, flag, integer, list, object, text } from './common/schemas.js';

const listedNetwork = object({
  id: text(),
  chain_id: integer(),
  base_url: text(),
  download_url: text(),
  kinds: list(text(), 'Kinds of data; empty: no bundles.'),
});

const indexSchema = {
  summary: 'List the networks and their addresses',
  tags: ['operation'],
  response: {
    200: described('The networks.', {
      name: text(),
      openapi: text('Path of the OpenAPI document.'),
      networks: list(listedNetwork),
    }),
  },
};

/** `GET /`: the networks and their addresses. */
export function indexPageRoute(served: readonly ServedNetwork[]): Route {
  return {
    method: 'GET',
    path: '/',
    name: 'index',
    schema: indexSchema,
    tellsAddress: areBelowServer(served),
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
  summary: 'Liveness',
  tags: ['operation'],
  response: {
    200: described('The process is running.', { status: text(undefined, { enum: ['ok'] }) }),
  },
};

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

const checks = object({
  status: text(undefined, { enum: ['ready', 'not ready'] }),
  database: flag(),
  objectStore: flag(),
  rangeIndex: flag('Whether the range index is loaded as far as WARM_LIMIT_MS and RANGE_CACHE allow.'),
  draining: flag(),
  problems: list(text(), 'What is wrong with the database or the object store, as sentences.'),
  networksFile: flag('Whether the current networks file is applied; if not, the last valid one still is.'),
});

const readySchema = {
  summary: 'Readiness',
  tags: ['operation'],
  response: {
    200: { description: 'Ready for requests.', ...checks },
    503: { description: 'Not ready.', ...checks },
  },
};

/** `GET /readyz`: Postgres and the object store answer, the range index is loaded, and the gateway is not draining. */
export function readyzRoute(parts: GatewayParts): Route {
  const { clock } = parts.context;
  // A check that hangs occupies one thread or connection, however many requests wait for it.
  const pingDatabase = shareRun(async () => {
    if (await parts.database.ping()) return;
    throw new PackhouseError({
      code: 'DATABASE_UNAVAILABLE',
      message: 'Postgres does not answer.',
      hint: 'Check that Postgres is running, and DATABASE_URL.',
    });
  });
  const askStore = shareRun(() => probeStore(parts.objectStore));
  /** What is wrong, as a sentence; null if the check passes in time. */
  const check = async (what: string, asking: Promise<unknown>): Promise<string | null> => {
    try {
      await withinMs(CHECK_TIMEOUT_MS, asking, () => new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`));
      return null;
    } catch (error) {
      parts.context.logger.warn({ err: error }, `not ready: ${what} failed`);
      return describeFailure(what, error);
    }
  };
  const remember = createTtlCache(clock, REUSE_MS, 1);
  return {
    method: 'GET',
    path: '/readyz',
    name: 'readyz',
    schema: readySchema,
    whileDraining: true,
    forOperators: true,
    async answer(exchange) {
      const [database, objectStore] = await remember('checks', () =>
        Promise.all([check('the database', pingDatabase()), check('the object store', askStore())]),
      );
      const { leaving: draining, warming } = parts.phase;
      const problems = [database, objectStore].filter((each) => each !== null);
      const ready = problems.length === 0 && !warming && !draining;
      const status = ready ? 'ready' : 'not ready';
      exchange
        .status(ready ? 200 : 503)
        .header('cache-control', 'no-store')
        .sendJson({
          status,
          database: database === null,
          objectStore: objectStore === null,
          rangeIndex: !warming,
          draining,
          problems,
          networksFile: parts.networksFileOk(),
        });
    },
  };
}

/** A sentence for everybody who may probe: without addresses, buckets and keys, which are in the log. */
function describeFailure(what: string, error: unknown): string {
  if (!isPackhouseError(error)) return `${what} failed; the log of the gateway says how`;
  const { name } = error.data;
  return `${what}: ${typeof name === 'string' ? `${name}. ` : ''}${error.hint ?? ''} [${error.code}]`;
}

const metricsSchema = {
  summary: 'Metrics in the Prometheus text format',
  tags: ['operation'],
  response: {
    200: { description: 'The metrics.', content: { 'text/plain': { schema: text() } } },
  },
};

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
