import type { Route } from '../http/router.js';
import type { GatewayParts } from './gateway-parts.js';

/** How long each check may take, and how long its answer is given to others, in milliseconds. */
const CHECK_TIMEOUT_MS = 2_000;
const REUSE_MS = 1_000;

/** Never written; asking for it proves that the store answers. */
const PROBE_KEY = 'readiness-probe';

const checks = {
  type: 'object',
  required: ['status', 'database', 'objectStore', 'draining', 'networksFile'],
  properties: {
    status: { type: 'string', enum: ['ready', 'not ready'] },
    database: { type: 'boolean' },
    objectStore: { type: 'boolean' },
    draining: { type: 'boolean' },
    networksFile: {
      type: 'boolean',
      description:
        'Whether the networks file is in force as it is; if not, what was in force before still is.',
    },
  },
} as const;

const schema = {
  summary: 'Whether requests should be sent here',
  tags: ['operation'],
  response: {
    200: { description: 'They should.', ...checks },
    503: { description: 'They should not.', ...checks },
  },
} as const;

/** `GET /readyz`: Postgres and the object store answer, and the gateway is not draining. */
export function readyzRoute(parts: GatewayParts): Route {
  const { clock } = parts.context;
  let last: { at: number; answer: Promise<[boolean, boolean]> } | undefined;
  const check = (): Promise<[boolean, boolean]> => {
    const now = clock.now();
    if (last === undefined || Math.abs(now - last.at) >= REUSE_MS) {
      const database = answers(parts.database.ping());
      const objectStore = answers(parts.objectStore.head(PROBE_KEY).then(() => true));
      last = { at: now, answer: Promise.all([database, objectStore]) };
    }
    return last.answer;
  };
  return {
    method: 'GET',
    path: '/readyz',
    name: 'readyz',
    schema,
    whileDraining: true,
    forOperators: true,
    async answer(exchange) {
      const [database, objectStore] = await check();
      const draining = parts.leaving();
      const ready = database && objectStore && !draining;
      const status = ready ? 'ready' : 'not ready';
      exchange
        .status(ready ? 200 : 503)
        .header('cache-control', 'no-store')
        .sendJson({ status, database, objectStore, draining, networksFile: parts.networksFileOk() });
    },
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
