import type { KeyRow, Plan } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import type { Exchange } from '../http/exchange.js';
import { Problem } from '../http/problem.js';
import { type Soon, whenHere } from '../http/soon.js';
import type { KeyCache } from './key-cache.js';
import { isRestricted, mayComeFrom, refusePlace, refuseRoute } from './key-restrictions.js';
import { type AnswerHeaders, type RateLimiter, type RateVerdict, sayRate } from './rate-limiter.js';

/** Admits requests by their key. */
export interface Admission {
  /** Identifies the caller by its key. Throws the problems `unauthenticated` and `forbidden`. */
  identify(key: string | undefined, exchange: Exchange): Soon<KeyRow>;
  /** Counts `cost` requests. Throws the problems `rate-limited` and `quota-exhausted`. */
  charge(row: KeyRow, cost: number, answer: AnswerHeaders): Soon<KeyRow>;
  /** Does both for one request; the rate is checked before network and route. */
  admit(key: string | undefined, exchange: Exchange): Soon<KeyRow>;
  /**
   * Adds the rate limit headers to a refusal that comes before anything is counted: a wrong verb, an unknown address,
   * an expired or restricted key, a draining gateway. Does nothing if the key is unknown. Never fails.
   */
  sayLeft(exchange: Exchange): Soon<unknown>;
  /** Whether a page of this origin may use this key. True for unknown keys, so that it can read the refusal. */
  admitsOrigin(key: string | undefined, origin: string): Soon<{ admitted: boolean; forAll: boolean }>;
}

const KEY = /^ph_\w{8}_[\w-]{43}$/;

/** Creates the admission, which checks in this order: key, end of the key, rate and quota, network. */
export function createAdmission(options: {
  keys: KeyCache;
  rateLimiter: RateLimiter;
  clock: Clock;
}): Admission {
  const { keys, rateLimiter, clock } = options;

  const known = (row: KeyRow | null, exchange: Exchange): KeyRow => {
    if (row === null) throw unauthenticated();
    exchange.key = row;
    exchange.prefix = row.prefix;
    if (isRestricted(row)) refuseAbroad(row, exchange);
    refuseEnded(row, clock.now());
    return row;
  };
  const identified = (row: KeyRow | null, exchange: Exchange): KeyRow => {
    const key = known(row, exchange);
    refuseElsewhere(key, exchange);
    // JSON-RPC checks each of its calls.
    if (exchange.route !== 'rpc') refuseRoute(key, exchange.route);
    return key;
  };
  const charge = (row: KeyRow, cost: number, answer: AnswerHeaders): Soon<KeyRow> => {
    const rate = rateLimiter.take(row, cost);
    return rate instanceof Promise
      ? rate.then((left) => charged(row, left, cost, answer))
      : charged(row, rate, cost, answer);
  };
  const included = (row: KeyRow, exchange: Exchange): KeyRow => {
    refuseElsewhere(row, exchange);
    refuseRoute(row, exchange.route);
    return row;
  };
  const admitted = (row: KeyRow | null, exchange: Exchange): Soon<KeyRow> => {
    const counted = charge(known(row, exchange), 1, exchange);
    return counted instanceof Promise
      ? counted.then((key) => included(key, exchange))
      : included(counted, exchange);
  };
  const find = (key: string | undefined): Soon<KeyRow | null> => (key === undefined ? null : keys.find(key));

  return {
    identify(key, exchange) {
      const row = find(key);
      return row instanceof Promise
        ? row.then((found) => identified(found, exchange))
        : identified(row, exchange);
    },
    charge,
    admit(key, exchange) {
      const row = find(key);
      return row instanceof Promise
        ? row.then((found) => admitted(found, exchange))
        : admitted(row, exchange);
    },
    sayLeft(exchange) {
      if (exchange.refusal === 'unauthenticated' || exchange.hasHeader('ratelimit-limit')) return undefined;
      const key = keyOf(exchange);
      if (key === undefined) return undefined;
      const say = async (): Promise<void> => {
        const row = await keys.find(key);
        if (row !== null) sayRate(exchange, await rateLimiter.left(row), 0);
      };
      // If the keys or the counts cannot be read, the refusal is sent without the headers.
      return say().catch(() => undefined);
    },
    admitsOrigin: (key, origin) =>
      whenHere(find(key), (row) => ({
        admitted: row === null || mayComeFrom(row, origin),
        forAll: row === null || row.origins.length === 0,
      })),
  };
}

/** The key in the path of a request, otherwise in its header. */
function keyOf({ path, request }: Exchange): string | undefined {
  const inPath = path
    .split('/')
    .map(decoded)
    .find((part) => KEY.test(part));
  return inPath ?? bearerKey(request.headers.authorization);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

/** Sets the rate limit headers; throws the problems `rate-limited` and `quota-exhausted`. */
function charged(row: KeyRow, rate: RateVerdict, cost: number, answer: AnswerHeaders): KeyRow {
  sayRate(answer, rate, cost);
  if (!rate.allowed) throw tooMany(row.plan, rate.window, Math.max(1, Math.ceil(rate.resetMs / 1_000)));
  return row;
}

/** Checked before counting, so that a key copied from its owner's page cannot use up the owner's plan. */
function refuseAbroad(row: KeyRow, exchange: Exchange): void {
  const { origin } = exchange;
  if (row.origins.length > 0) exchange.allowOrigin(mayComeFrom(row, origin) ? (origin ?? null) : null);
  refusePlace(row, { origin, address: exchange.ip });
}

function refuseElsewhere(row: KeyRow, { network }: Exchange): void {
  if (row.network !== null && row.network !== network) {
    throw new Problem('forbidden', { detail: 'This API key belongs to another network.' });
  }
}

/** Throws the problem `plan-limit` if a block is above the last one of the plan. */
export function refuseAbovePlan(plan: Plan, requested: number): void {
  if (plan.maxBlock === null || requested <= plan.maxBlock) return;
  throw new Problem('plan-limit', {
    detail: `The plan "${plan.name}" includes blocks up to ${plan.maxBlock}; block ${requested} was asked for.`,
    members: { plan: plan.name, maxBlock: plan.maxBlock, requested },
  });
}

/** One text for a missing, a malformed and an unknown key, so that the answer does not tell which it was. */
export function unauthenticated(): Problem {
  return new Problem('unauthenticated', {
    detail:
      'The API key is missing or not valid: it stands in the path behind /v1/, or for files in the header Authorization: Bearer.',
    headers: { 'www-authenticate': 'Bearer realm="packhouse"' },
  });
}

function refuseEnded(row: KeyRow, now: number): void {
  if (row.revokedAt !== null) throw new Problem('forbidden', { detail: 'This API key was revoked.' });
  if (row.expiresAt !== null && row.expiresAt.getTime() <= now) {
    throw new Problem('forbidden', { detail: 'This API key has expired.' });
  }
}

function tooMany(plan: Plan, window: 'second' | 'day', retryAfter: number): Problem {
  const limit = window === 'second' ? plan.requestsPerSecond : plan.requestsPerDay;
  return new Problem(window === 'second' ? 'rate-limited' : 'quota-exhausted', {
    detail: `The plan "${plan.name}" includes ${limit} requests a ${window}; try again in ${retryAfter} s.`,
    members: { plan: plan.name, limit, window, retryAfter, retryAfterMs: retryAfter * 1_000 },
    headers: { 'retry-after': String(retryAfter) },
  });
}

const BEARER = /^Bearer +(\S+) *$/i;

/** The key in an Authorization header (RFC 6750, 2.1); absent if there is none of this scheme. */
export function bearerKey(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}
