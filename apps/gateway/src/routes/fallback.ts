import { API_KEY } from '@packhouse/runtime';
import { type Admission, unauthenticated } from '../access/admission.js';
import type { Exchange } from '../http/exchange.js';
import { thenSync } from '../http/maybe-promise.js';
import { Problem, toProblem } from '../http/problem.js';
import { sendProblem } from '../http/refuse.js';
import type { Fallback } from '../http/route.js';
import { hostName } from '../http/route.js';
import type { Mount, ServedNetwork } from '../networks/served-network.js';
import { sendRefusal } from '../rpc/send.js';
import type { GatewayParts } from './common/gateway-parts.js';
import { ICEBERG, refuseCatalog } from './lake/refuse.js';

/** Handles requests that no route takes. A request meant for JSON-RPC is refused in JSON-RPC. */
export function createFallback(
  { context, admission }: GatewayParts,
  networks: readonly ServedNetwork[],
): Fallback {
  const { logger } = context;
  const send = (exchange: Exchange, problem: Problem): void => {
    const httpErrors = findRpcErrors(exchange, networks);
    if (httpErrors === null) sendProblem(exchange, problem, logger);
    else sendRefusal(exchange, problem, { logger, httpErrors });
  };
  return {
    problem: (exchange, methods) => explainFallback(exchange, methods, networks),
    refuse(exchange, error) {
      if (exchange.path.startsWith(`${ICEBERG}/`))
        return refuseCatalog({ admission, logger }, exchange, error);
      const problem = toProblem(error);
      exchange.refusal = problem.reason;
      return thenSync(admission.setRateLimitHeaders(exchange), () => send(exchange, problem));
    },
    preflight: (exchange, methods) => answerPreflight(exchange, methods, admission),
  };
}

/** Seconds that a browser may cache a preflight; short, because a key's origins may change. */
const MAX_AGE_SECONDS = 600;

/** Headers that a page may send. `*` would not include Authorization (Fetch standard, 4.9). */
const HEADERS =
  'authorization, content-type, range, if-match, if-none-match, if-range, traceparent, tracestate';

/**
 * Answers a preflight with the methods of the address. If the key in it may not be used from that origin: 403 without
 * the header that the browser needs. Rejects if the keys cannot be read.
 */
async function answerPreflight(
  exchange: Exchange,
  methods: readonly string[],
  admission: Admission,
): Promise<void> {
  exchange.route = 'preflight';
  const origin = exchange.origin as string;
  const { admitted, forAll } = await admission.admitsOrigin(keyIn(exchange.request.url ?? ''), exchange);
  exchange.header('vary', 'Origin').header('cache-control', 'no-store');
  if (!admitted) {
    exchange.removeHeader('access-control-allow-origin');
    exchange.removeHeader('access-control-expose-headers');
    exchange.status(403).sendNothing();
    return;
  }
  exchange
    .header('access-control-allow-origin', forAll ? '*' : origin)
    .header('access-control-allow-methods', methods.join(', '))
    .header('access-control-allow-headers', HEADERS)
    .header('access-control-max-age', MAX_AGE_SECONDS)
    .status(204)
    .sendNothing();
}

function keyIn(url: string): string | undefined {
  try {
    return API_KEY.exec(decodeURIComponent(url))?.[0];
  } catch {
    return undefined;
  }
}

/** The refusal for an address that no route takes: wrong verb, no key, no such network, or nothing there. */
function explainFallback(
  exchange: Exchange,
  methods: readonly string[],
  networks: readonly ServedNetwork[],
): Problem {
  if (methods.length > 0) {
    const allow = methods.join(', ');
    return new Problem('method-not-allowed', {
      detail: `This address supports ${allow}.`,
      headers: { allow },
    });
  }
  const { path, request } = exchange;
  const host = hostName(request.headers.host);
  const noKey = (served: ServedNetwork): boolean =>
    lacksKey(served.base, path, host) || (RPC_VERBS.has(request.method) && rpcLacksKey(served, path, host));
  if (networks.some(noKey)) return unauthenticated();
  const below = (mount: Mount): boolean => isAtHost(mount, host) && path.startsWith(`${mount.path}/`);
  const known = networks.some((served) => below(served.base) || below(served.files));
  if (!known && !isInLake(path, networks) && /^\/[^/]*\/(?:v1|files)\//.test(path)) {
    const names = networks.map((served) => served.network.id).join(', ');
    return new Problem('network-unknown', {
      detail: `No network is served at this address; the networks are ${names}.`,
      members: { networks: networks.map((served) => served.network.id) },
    });
  }
  return new Problem('path-unknown', {
    detail: 'Nothing is served at this address; GET / lists the networks and their addresses.',
  });
}

/** Whether a path is of the catalog and names no network, or one that has tables. */
function isInLake(path: string, networks: readonly ServedNetwork[]): boolean {
  if (!path.startsWith(`${ICEBERG}/`)) return false;
  const [, id] = /^\/[^/]*\/(?:v1\/namespaces|files)\/([^/]+)/.exec(path) ?? [];
  return id === undefined || networks.some(({ network }) => network.id === id && network.bundles.enabled);
}

function isAtHost(mount: Mount, host: string): boolean {
  return mount.host === undefined || mount.host === host;
}

/** An address of the bundle interface or of tokens with the key left out, or empty. */
function lacksKey(base: Mount, path: string, host: string): boolean {
  return (
    isAtHost(base, host) &&
    ['/bundle-api/', '//bundle-api/', '/nft-api/', '//nft-api/'].some((gap) =>
      path.startsWith(base.path + gap),
    )
  );
}

/** Verbs that an address of JSON-RPC takes. */
const RPC_VERBS: ReadonlySet<string | undefined> = new Set(['POST', 'GET', 'HEAD']);

/** A JSON-RPC address with the key left out. */
function rpcLacksKey({ base, network }: ServedNetwork, path: string, host: string): boolean {
  return !network.rpc.open && isAtHost(base, host) && (path === base.path || path === `${base.path}/`);
}

/** `/x/v1/` or `/x/v1/<key>` of a network that is not served. */
const ANY_NETWORK = /^\/[^/]*\/v1\/[^/]*$/;

/**
 * Whether a request that no route takes was meant for JSON-RPC, so that its refusal is an envelope: any method at an
 * address with a key, or a POST at one without a key or of an unknown network. Returns how the network sends errors.
 */
function findRpcErrors(
  { path, request }: Exchange,
  networks: readonly ServedNetwork[],
): ServedNetwork['network']['rpc']['httpErrors'] | null {
  const host = hostName(request.headers.host);
  const { method } = request;
  for (const served of networks) {
    const { base, network } = served;
    if (!isAtHost(base, host)) continue;
    if (!`${path}/`.startsWith(`${base.path}/`)) continue;
    const behind = path.slice(base.path.length + 1);
    const complete = behind === '' ? network.rpc.open : !behind.includes('/');
    if (complete || (behind === '' && method === 'POST')) return network.rpc.httpErrors;
  }
  return method === 'POST' && ANY_NETWORK.test(path) ? 'status' : null;
}
