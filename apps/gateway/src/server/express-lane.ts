import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KeyRow } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import type { KeyCache } from '../auth/key-cache.js';
import { isRestricted } from '../auth/key-restrictions.js';
import type { RateLimiter } from '../limits/rate-limiter.js';
import type { RangeCache } from '../ranges/range-cache.js';
import type { Site } from '../sites/site.js';
import type { RecordVisit } from './record-visit.js';
import { beginVisit } from './visit.js';

/** Answers a request, or says false and leaves it as it was. */
export type ExpressLane = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ExpressLaneOptions {
  sites: readonly Site[];
  keys: KeyCache;
  ranges: RangeCache;
  rateLimiter: RateLimiter;
  clock: Clock;
  record: RecordVisit;
  nextRequestId(): string;
  draining(): boolean;
  /** Requests are traced: the router's way has the spans. */
  tracing?: boolean;
}

/** An address that needs no decoding; all others are the router's. */
const POINTER = /^(\/.+\/v1|\/v1)\/(ph_\w{8}_[\w-]{43})\/bundle-api\/([a-z]+)\/(0|[1-9]\d{0,14})$/;

/** What JSON does not escape and HTTP sends as one byte a character. */
const PLAIN = /^[!#-[\]-~]*$/;

/**
 * Makes the way past the router for the one request that comes by the thousands: a pointer to a published block, by a
 * key in use, all in memory. It answers as `routes/bundle-pointer.ts` would, byte for byte (a test holds both side by
 * side), and leaves everything else to it: what is unknown, staged, forbidden or too much. Routing, hooks and
 * serializing cost a third of such an answer's time.
 */
export function createExpressLane(options: ExpressLaneOptions): ExpressLane {
  const { keys, ranges, rateLimiter, clock, record } = options;
  // Where two networks share a path, the host name decides, and that is the router's to read.
  const paths = options.sites.map((site) => site.base.path);
  const sites = new Map(
    options.sites
      .filter(({ base, network }) => base.host === undefined && network.bundles.enabled)
      .filter(({ base }) => paths.filter((path) => path === base.path).length === 1)
      .map((site) => [
        site.base.path,
        { site, kinds: new Map(site.network.bundles.kinds.map((k) => [k as string, k])) },
      ]),
  );

  return (request, response) => {
    const { headers } = request;
    if (request.method !== 'GET' || options.draining() || options.tracing === true) return false;
    // A page in a browser is told who may read the answer.
    if (headers.origin !== undefined) return false;
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
    const match = POINTER.exec(request.url ?? '');
    if (match === null) return false;
    const served = sites.get(match[1] as string);
    const kind = served?.kinds.get(match[3] as string);
    if (served === undefined || kind === undefined || !PLAIN.test(served.site.downloadUrl)) return false;
    const { network, downloadUrl } = served.site;
    const key = keys.find(match[2] as string);
    if (key === null || key instanceof Promise || !mayAsk(key, network.id, clock.now())) return false;
    const range = ranges.find(network.id, kind, Number(match[4]));
    if (range === undefined || range.end > (key.plan.maxBlock ?? range.end)) return false;
    const rate = rateLimiter.take(key);
    if (rate instanceof Promise || !rate.allowed) return false;

    const visit = beginVisit();
    visit.route = 'pointer';
    visit.network = network.id;
    visit.kind = kind;
    visit.prefix = key.prefix;
    const name = `${range.start}-${range.end}`;
    const body = `{"type":"${kind}","range":"${name}","download_link":"${downloadUrl}/${kind}/${name}.json.gz"}`;
    visit.bytes = body.length;
    response.on('close', () => record(visit, response, options.nextRequestId));
    response.writeHead(200, [
      'ratelimit-limit',
      String(rate.limit),
      'ratelimit-remaining',
      String(rate.remaining),
      'ratelimit-reset',
      String(Math.ceil(rate.resetMs / 1_000)),
      'ratelimit-cost',
      '1',
      'cache-control',
      'no-store',
      'content-type',
      'application/json; charset=utf-8',
      'content-length',
      String(body.length),
    ]);
    response.end(body, 'latin1');
    return true;
  };
}

/** Whether a key that is known to memory may ask this network, without any restriction that has to be looked at. */
export function mayAsk(key: KeyRow, network: string, now: number): boolean {
  const alive = key.revokedAt === null && (key.expiresAt === null || key.expiresAt.getTime() > now);
  return alive && !isRestricted(key) && (key.network === null || key.network === network);
}
