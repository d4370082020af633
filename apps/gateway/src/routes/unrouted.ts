import { type Admission, unauthenticated } from '../auth/admission.js';
import type { Exchange } from '../http/exchange.js';
import { Problem } from '../http/problem.js';
import { problemOfError } from '../http/problem-of-error.js';
import { hostName, sendProblem, type Unrouted } from '../http/router.js';
import { whenHere } from '../http/soon.js';
import { sendRefusal } from '../rpc/send.js';
import type { Mount, Site } from '../sites/site.js';
import type { GatewayParts } from './gateway-parts.js';

/** What happens to requests that no route takes; who meant JSON-RPC is answered in JSON-RPC. */
export function createUnrouted({ context, sites, admission }: GatewayParts): Unrouted {
  const { logger } = context;
  const send = (exchange: Exchange, problem: Problem): void => {
    const { method = '', headers } = exchange.request;
    const meant = rpcAddress({ method, path: exchange.path, host: headers.host }, sites);
    if (meant === null) sendProblem(exchange, problem, logger);
    else
      sendRefusal(exchange, problem, { logger, httpErrors: meant.site?.network.rpc.httpErrors ?? 'status' });
  };
  return {
    problem: (exchange, methods) => whyUnrouted(exchange, methods, sites),
    refuse(exchange, error) {
      const problem = problemOfError(error);
      exchange.refusal = problem.reason;
      return whenHere(admission.sayLeft(exchange), () => send(exchange, problem));
    },
    preflight: (exchange, methods) => answerPreflight(exchange, methods, admission),
  };
}

/** Seconds that a browser remembers what it was told: a key's origins may change. */
const MAX_AGE_SECONDS = 600;

/** Headers that a page may send. `*` would not include Authorization (Fetch standard, 4.9). */
const HEADERS =
  'authorization, content-type, range, if-match, if-none-match, if-range, traceparent, tracestate';

/** An API key in a path, as it is or encoded. */
const KEY = /ph_\w{8}_[\w-]{43}/;

/**
 * Says which methods an address takes, and whether the key in it may be used from that origin: 403 without the header
 * that the browser waits for, if not. Rejects if the keys cannot be read.
 */
async function answerPreflight(
  exchange: Exchange,
  methods: readonly string[],
  admission: Admission,
): Promise<void> {
  exchange.route = 'preflight';
  const origin = exchange.origin as string;
  const { admitted, forAll } = await admission.admitsOrigin(keyIn(exchange.request.url ?? ''), origin);
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
    return KEY.exec(decodeURIComponent(url))?.[0];
  } catch {
    return undefined;
  }
}

/** The refusal for an address that no route takes: wrong verb, no key, no such network, or nothing there. */
function whyUnrouted(exchange: Exchange, methods: readonly string[], sites: readonly Site[]): Problem {
  if (methods.length > 0) {
    const allow = methods.join(', ');
    return new Problem('method-not-allowed', {
      detail: `This address takes ${allow} only.`,
      headers: { allow },
    });
  }
  const { path, request } = exchange;
  const host = hostName(request.headers.host);
  const noKey = (site: Site): boolean =>
    withoutKey(site.base, path, host) || (request.method === 'POST' && rpcWithoutKey(site, path, host));
  if (sites.some(noKey)) return unauthenticated();
  const below = (mount: Mount): boolean => at(mount, host) && path.startsWith(`${mount.path}/`);
  const known = sites.some((site) => below(site.base) || below(site.files));
  if (!known && /^\/[^/]*\/(?:v1|files)\//.test(path)) {
    const names = sites.map((site) => site.network.id).join(', ');
    return new Problem('network-unknown', {
      detail: `No network is served at this address; there are ${names}.`,
      members: { networks: sites.map((site) => site.network.id) },
    });
  }
  return new Problem('path-unknown', {
    detail: 'There is nothing at this address; GET / names the networks and their addresses.',
  });
}

function at(mount: Mount, host: string): boolean {
  return mount.host === undefined || mount.host === host;
}

/** An address of the bundle interface or of tokens with the key left out, or empty. */
function withoutKey(base: Mount, path: string, host: string): boolean {
  return (
    at(base, host) &&
    ['/bundle-api/', '//bundle-api/', '/nft-api/', '//nft-api/'].some((gap) =>
      path.startsWith(base.path + gap),
    )
  );
}

/** The address of JSON-RPC with the key left out. */
function rpcWithoutKey({ base, network }: Site, path: string, host: string): boolean {
  return !network.rpc.open && at(base, host) && (path === base.path || path === `${base.path}/`);
}

/** What `/x/v1/` or `/x/v1/<key>` of a network that is not served looks like. */
const ANY_NETWORK = /^\/[^/]*\/v1\/[^/]*$/;

/**
 * Whether a request that no route takes was meant for JSON-RPC, so that its refusal is an envelope: any verb at an
 * address that has a key, a POST at one without or of an unknown network. Returns the site if there is one.
 */
function rpcAddress(
  request: { method: string; path: string; host: string | undefined },
  sites: readonly Site[],
): { site: Site | undefined } | null {
  const host = hostName(request.host);
  const { method, path } = request;
  for (const site of sites) {
    const { base, network } = site;
    if (base.host !== undefined && base.host !== host) continue;
    if (!`${path}/`.startsWith(`${base.path}/`)) continue;
    const behind = path.slice(base.path.length + 1);
    const complete = network.rpc.open ? behind === '' : behind !== '' && !behind.includes('/');
    if (complete || (behind === '' && method === 'POST')) return { site };
  }
  return method === 'POST' && ANY_NETWORK.test(path) ? { site: undefined } : null;
}
