import type { KeyRow, Plan } from '@packhouse/database';
import { type Clock, getOrAdd, isApiKey } from '@packhouse/runtime';
import type { Exchange } from '../http/exchange.js';
import { type MaybePromise, thenSync } from '../http/maybe-promise.js';
import { Problem } from '../http/problem.js';
import type { AddressLimiter } from './address-limiter.js';
import type { KeyCache } from './key-cache.js';
import { allowsOrigin, isRestricted, requireAllowedClient, requireRoute } from './key-restrictions.js';
import { createPatientReads } from './patient-reads.js';
import { type RateVerdict, writeRateLimitHeaders } from './quotas.js';
import type { CountedCall, RateLimiter } from './rate-limiter.js';
import { type UsageCounts, usedNetwork } from './usage-counts.js';

/**
 * Admits requests by their key. If those of an address were not valid too often, further ones get the problem
 * `rate-limited`; the good ones of others behind that address do not.
 */
export type Admission = ReturnType<typeof createAdmission>;

/** The name under which usage counts what a batch shares: its bytes. */
const BATCH = 'batch';

/** A call of no method that the network offers, an item that is no call, or a request that was refused unread. */
export const OTHER: CountedCall = { name: 'other', cost: 1 };

/** Creates the admission, which checks in this order: key, end of the key, rate and quota, network. */
export function createAdmission(options: {
  keys: KeyCache;
  rateLimiter: RateLimiter;
  addressLimiter: AddressLimiter;
  usage: UsageCounts;
  clock: Clock;
}) {
  const { keys, rateLimiter, addressLimiter, usage, clock } = options;
  const patient = createPatientReads({ rateLimiter, clock });
  const checkKey = (row: KeyRow | null, exchange: Exchange): KeyRow => {
    if (row === null) throw unauthenticated();
    exchange.key = row;
    exchange.prefix = row.prefix;
    if (isRestricted(row)) requireOriginAndAddress(row, exchange);
    requireActive(row, clock.now());
    return row;
  };
  const identifyKey = (row: KeyRow | null, exchange: Exchange): KeyRow => {
    const key = checkKey(row, exchange);
    requireNetwork(key, exchange);
    // JSON-RPC checks each of its calls.
    if (exchange.route !== 'rpc') requireRoute(key, exchange.route);
    return key;
  };
  const charge = (
    row: KeyRow,
    calls: readonly CountedCall[],
    exchange: Exchange,
    quota = true,
  ): MaybePromise<KeyRow> => {
    const taken = rateLimiter.take(row, calls, quota, exchange.chargedUnits);
    return thenSync(taken, (rate) => applyRate(usage, row, rate, calls, exchange, quota));
  };
  const admitKey = (row: KeyRow | null, exchange: Exchange, quota: boolean): MaybePromise<KeyRow> =>
    thenSync(charge(checkKey(row, exchange), toCall(exchange.route), exchange, quota), (key) =>
      requireUse(key, exchange),
    );
  /** The row of a key. Throws the problem `rate-limited` if it is not valid, and its address sent too many such. */
  const find = (key: string | undefined, exchange: Exchange): MaybePromise<KeyRow | null> => {
    if (key !== undefined && keys.wasFound(key)) return keys.find(key);
    const { ip } = exchange;
    return thenSync(addressLimiter.isFailing(ip), (isFailing) =>
      thenSync(key === undefined ? null : keys.find(key, isFailing), (row) =>
        row === null ? thenSync(addressLimiter.chargeFailed(ip, exchange), () => row) : row,
      ),
    );
  };

  return {
    /** Identifies the caller by its key. Throws the problems `unauthenticated` and `forbidden`. */
    identify: (key: string | undefined, exchange: Exchange): MaybePromise<KeyRow> =>
      thenSync(find(key, exchange), (row) => identifyKey(row, exchange)),
    /** Counts the calls of a request. Throws the problems `rate-limited` and `quota-exhausted`. */
    charge,
    /** Counts units for the body of a request. Throws the problem `rate-limited`. */
    chargeBody: (row: KeyRow, units: number, exchange: Exchange): MaybePromise<void> =>
      thenSync(rateLimiter.takeBody(row, units, exchange.chargedUnits), (rate) => {
        if (!rate.allowed) applyRate(usage, row, rate, [OTHER], exchange, false);
      }),
    /**
     * Does both for one request, which costs one unit; the rate is checked before network and route. `quota` false: it
     * costs nothing of day and month.
     */
    admit: (key: string | undefined, exchange: Exchange, { quota } = COUNTED): MaybePromise<KeyRow> =>
      thenSync(find(key, exchange), (row) => admitKey(row, exchange, quota)),
    /**
     * Does both for a request of an engine that reads tables, which waits for its turn (`createPatientReads`); `bytes` of
     * a data file, or a unit.
     */
    async admitReader(key: string | undefined, exchange: Exchange, bytes?: number): Promise<KeyRow> {
      const row = checkKey(await find(key, exchange), exchange);
      const { rate, calls } = await patient.take(row, exchange.route, bytes);
      return requireUse(applyRate(usage, row, rate, calls, exchange, true), exchange);
    },
    /**
     * Adds the rate limit headers to a refusal that comes before anything is counted: a wrong verb, an unknown address,
     * an expired or restricted key, a draining gateway. Does nothing if the key is unknown. Never fails.
     */
    setRateLimitHeaders(exchange: Exchange): MaybePromise<unknown> {
      if (exchange.refusal === 'unauthenticated' || exchange.hasHeader('ratelimit-limit')) return undefined;
      const key = findKey(exchange);
      if (key === undefined) return undefined;
      const say = async (): Promise<void> => {
        const row = await find(key, exchange);
        if (row !== null) writeRateLimitHeaders(exchange, await rateLimiter.peek(row), 0);
      };
      // If the keys or the counts cannot be read, the refusal is sent without the headers.
      return say().catch(() => undefined);
    },
    /** Whether a page of this origin may use this key. True for unknown keys, so that it can read the refusal. */
    admitsOrigin: (key: string | undefined, exchange: Exchange) =>
      thenSync(key === undefined ? null : find(key, exchange), (row) => ({
        admitted: row === null || allowsOrigin(row, exchange.origin),
        forAll: row === null || row.origins.length === 0,
      })),
  };
}

/** The key, if it may be used for what was asked. Throws the problem `forbidden`. */
function requireUse(key: KeyRow, exchange: Exchange): KeyRow {
  requireNetwork(key, exchange);
  requireRoute(key, exchange.route);
  return key;
}

/** Counts what the limiter said, and sends its headers. Throws the problems `rate-limited` and `quota-exhausted`. */
function applyRate(
  usage: UsageCounts,
  row: KeyRow,
  rate: RateVerdict,
  calls: readonly CountedCall[],
  exchange: Exchange,
  quota: boolean,
): KeyRow {
  let cost = 0;
  for (const { name, cost: units } of calls) {
    const cell = usage.of(row.id, usedNetwork(exchange, row), name);
    cell.requests += 1;
    if (!rate.allowed) cell.errors += 1;
    if (!quota) continue;
    cost += units;
    if (rate.allowed) cell.units += units;
  }
  if (rate.allowed) exchange.units += cost;
  writeRateLimitHeaders(exchange, rate, Math.max(cost, exchange.chargedUnits));
  if (!rate.allowed) throw limitExceeded(row.plan, rate, Math.max(1, Math.ceil(rate.resetMs / 1_000)));
  exchange.counted = calls.length === 1 ? (calls[0] as CountedCall).name : BATCH;
  return row;
}

const COUNTED = { quota: true };

/** One call of each route. */
const ROUTE_CALLS = new Map<string, readonly CountedCall[]>();

function toCall(route: string): readonly CountedCall[] {
  return getOrAdd(ROUTE_CALLS, route, () => [{ name: route, cost: 1 }]);
}

/** The key in the path of a request, otherwise in its header. */
function findKey({ path, request }: Exchange): string | undefined {
  const inPath = path.split('/').map(decodePart).find(isApiKey);
  return inPath ?? bearerKey(request.headers.authorization);
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

/** Checked before counting, so that a key copied from its owner's page cannot use up the owner's plan. */
function requireOriginAndAddress(row: KeyRow, exchange: Exchange): void {
  const { origin } = exchange;
  if (row.origins.length > 0) exchange.allowOrigin(allowsOrigin(row, origin) ? (origin ?? null) : null);
  requireAllowedClient(row, { origin, address: exchange.ip });
}

function requireNetwork(row: KeyRow, exchange: Exchange): void {
  const { network } = exchange;
  // What is of no network answers for that of the key.
  if (network === '') exchange.network = row.network ?? '';
  else if (row.network !== null && row.network !== network) {
    throw new Problem('forbidden', { detail: 'This API key belongs to another network.' });
  }
}

/** Throws the problem `plan-limit` if a block is above the last one of the plan. */
export function requireWithinPlan(plan: Plan, requested: number): void {
  if (plan.maxBlock === null || requested <= plan.maxBlock) return;
  throw new Problem('plan-limit', {
    detail: `The plan "${plan.name}" includes blocks up to ${plan.maxBlock}; block ${requested} was requested.`,
    members: { plan: plan.name, maxBlock: plan.maxBlock, requested },
  });
}

/** One text for a missing, a malformed and an unknown key, so that the answer does not tell which it was. */
export function unauthenticated(): Problem {
  return new Problem('unauthenticated', {
    detail:
      'The API key is missing or invalid. Put it into the path after /v1/, or for files into the header Authorization: Bearer.',
    headers: { 'www-authenticate': 'Bearer realm="packhouse"' },
  });
}

function requireActive(row: KeyRow, now: number): void {
  if (row.revokedAt !== null) throw new Problem('forbidden', { detail: 'This API key was revoked.' });
  if (row.expiresAt !== null && row.expiresAt.getTime() <= now) {
    throw new Problem('forbidden', { detail: 'This API key has expired.' });
  }
}

function limitExceeded(plan: Plan, { window, limit, method }: RateVerdict, retryAfter: number): Problem {
  const what = method === undefined ? 'units' : `calls of ${method}`;
  return new Problem(window === 'second' ? 'rate-limited' : 'quota-exhausted', {
    detail: `The plan "${plan.name}" includes ${limit} ${what} per ${window}; try again in ${retryAfter} s.`,
    members: { plan: plan.name, limit, window, method },
    retryAfter,
  });
}

/** The key in an Authorization header (RFC 6750, 2.1); absent if there is none of this scheme. */
export function bearerKey(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(header)?.[1];
}
