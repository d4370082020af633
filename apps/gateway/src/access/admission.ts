import type { KeyRow, Plan } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import type { Exchange } from '../http/exchange.js';
import { Problem } from '../http/problem.js';
import { type Soon, whenHere } from '../http/soon.js';
import type { AddressLimiter } from './address-limiter.js';
import type { KeyCache } from './key-cache.js';
import { isRestricted, mayComeFrom, refusePlace, refuseRoute } from './key-restrictions.js';
import { type RateVerdict, sayRate } from './rate-headers.js';
import type { CountedCall, RateLimiter } from './rate-limiter.js';
import type { UsageCounts } from './usage-counts.js';

/** Admits requests by their key. An address whose keys were not valid too often gets the problem `rate-limited`. */
export interface Admission {
  /** Identifies the caller by its key. Throws the problems `unauthenticated` and `forbidden`. */
  identify(key: string | undefined, exchange: Exchange): Soon<KeyRow>;
  /** Counts the calls of a request. Throws the problems `rate-limited` and `quota-exhausted`. */
  charge(row: KeyRow, calls: readonly CountedCall[], exchange: Exchange): Soon<KeyRow>;
  /** Counts units for the body of a request. Throws the problem `rate-limited`. */
  chargeBody(row: KeyRow, units: number, exchange: Exchange): Soon<void>;
  /**
   * Does both for one request, which costs one unit; the rate is checked before network and route. `quota` false: it
   * costs nothing of day and month.
   */
  admit(key: string | undefined, exchange: Exchange, options?: { quota: boolean }): Soon<KeyRow>;
  /**
   * Adds the rate limit headers to a refusal that comes before anything is counted: a wrong verb, an unknown address,
   * an expired or restricted key, a draining gateway. Does nothing if the key is unknown. Never fails.
   */
  sayLeft(exchange: Exchange): Soon<unknown>;
  /** Whether a page of this origin may use this key. True for unknown keys, so that it can read the refusal. */
  admitsOrigin(key: string | undefined, exchange: Exchange): Soon<{ admitted: boolean; forAll: boolean }>;
}

/** The name under which usage counts what a batch shares: its bytes. */
const BATCH = 'batch';

/** A call of no method that the network offers, an item that is no call, or a request that was refused unread. */
export const OTHER: CountedCall = { name: 'other', cost: 1 };

const KEY = /^ph_\w{8}_[\w-]{43}$/;

/** Creates the admission, which checks in this order: key, end of the key, rate and quota, network. */
export function createAdmission(options: {
  keys: KeyCache;
  rateLimiter: RateLimiter;
  addressLimiter: AddressLimiter;
  usage: UsageCounts;
  clock: Clock;
}): Admission {
  const { keys, rateLimiter, addressLimiter, usage, clock } = options;
  /** One call of each route. */
  const callsOf = new Map<string, readonly CountedCall[]>();

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
  const counted = (
    row: KeyRow,
    rate: RateVerdict,
    calls: readonly CountedCall[],
    exchange: Exchange,
    quota: boolean,
  ): KeyRow => {
    let cost = 0;
    for (const call of calls) {
      const units = quota ? call.cost : 0;
      cost += units;
      const cell = usage.of(row.id, exchange.network, call.name);
      cell.requests += 1;
      if (rate.allowed) cell.units += units;
      else cell.errors += 1;
    }
    sayRate(exchange, rate, Math.max(cost, exchange.paid));
    if (!rate.allowed) throw tooMany(row.plan, rate, Math.max(1, Math.ceil(rate.resetMs / 1_000)));
    exchange.counted = calls.length === 1 ? (calls[0] as CountedCall).name : BATCH;
    return row;
  };
  const charge = (
    row: KeyRow,
    calls: readonly CountedCall[],
    exchange: Exchange,
    quota = true,
  ): Soon<KeyRow> => {
    const rate = rateLimiter.take(row, calls, quota, exchange.paid);
    return rate instanceof Promise
      ? rate.then((left) => counted(row, left, calls, exchange, quota))
      : counted(row, rate, calls, exchange, quota);
  };
  const callOf = (route: string): readonly CountedCall[] => {
    let calls = callsOf.get(route);
    if (calls === undefined) {
      calls = [{ name: route, cost: 1 }];
      callsOf.set(route, calls);
    }
    return calls;
  };
  const included = (row: KeyRow, exchange: Exchange): KeyRow => {
    refuseElsewhere(row, exchange);
    refuseRoute(row, exchange.route);
    return row;
  };
  const admitted = (row: KeyRow | null, exchange: Exchange, quota: boolean): Soon<KeyRow> => {
    const charged = charge(known(row, exchange), callOf(exchange.route), exchange, quota);
    return charged instanceof Promise
      ? charged.then((key) => included(key, exchange))
      : included(charged, exchange);
  };
  /** The row of a key. Throws the problem `rate-limited` to an address that sent too many that are not valid. */
  const find = (key: string | undefined, exchange: Exchange): Soon<KeyRow | null> => {
    if (key !== undefined && keys.wasFound(key)) return keys.find(key);
    const { ip } = exchange;
    return whenHere(addressLimiter.refuseFailing(ip, exchange), () =>
      whenHere(key === undefined ? null : keys.find(key), (row) =>
        row === null ? whenHere(addressLimiter.chargeFailed(ip, exchange), () => row) : row,
      ),
    );
  };

  return {
    identify(key, exchange) {
      const row = find(key, exchange);
      return row instanceof Promise
        ? row.then((found) => identified(found, exchange))
        : identified(row, exchange);
    },
    charge: (row, calls, exchange) => charge(row, calls, exchange),
    chargeBody: (row, units, exchange) =>
      whenHere(rateLimiter.takeBody(row, units, exchange.paid), (rate) => {
        if (rate.allowed) exchange.paid += units;
        else counted(row, rate, [OTHER], exchange, false);
      }),
    admit(key, exchange, { quota } = COUNTED) {
      const row = find(key, exchange);
      return row instanceof Promise
        ? row.then((found) => admitted(found, exchange, quota))
        : admitted(row, exchange, quota);
    },
    sayLeft(exchange) {
      if (exchange.refusal === 'unauthenticated' || exchange.hasHeader('ratelimit-limit')) return undefined;
      const key = keyOf(exchange);
      if (key === undefined) return undefined;
      const say = async (): Promise<void> => {
        const row = await find(key, exchange);
        if (row !== null) sayRate(exchange, await rateLimiter.left(row), 0);
      };
      // If the keys or the counts cannot be read, the refusal is sent without the headers.
      return say().catch(() => undefined);
    },
    admitsOrigin: (key, exchange) =>
      whenHere(key === undefined ? null : find(key, exchange), (row) => ({
        admitted: row === null || mayComeFrom(row, exchange.origin),
        forAll: row === null || row.origins.length === 0,
      })),
  };
}

const COUNTED = { quota: true };

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

function tooMany(plan: Plan, { window, limit, method }: RateVerdict, retryAfter: number): Problem {
  const what = method === undefined ? 'units' : `calls of ${method}`;
  return new Problem(window === 'second' ? 'rate-limited' : 'quota-exhausted', {
    detail: `The plan "${plan.name}" includes ${limit} ${what} a ${window}; try again in ${retryAfter} s.`,
    members: {
      ...{ plan: plan.name, limit, window },
      ...(method === undefined ? {} : { method }),
      ...{ retryAfter, retryAfterMs: retryAfter * 1_000 },
    },
    headers: { 'retry-after': String(retryAfter) },
  });
}

const BEARER = /^Bearer +(\S+) *$/i;

/** The key in an Authorization header (RFC 6750, 2.1); absent if there is none of this scheme. */
export function bearerKey(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}
