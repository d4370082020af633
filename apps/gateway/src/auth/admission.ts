import type { KeyRow, Plan } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import { Problem } from '../http/problem.js';
import { type AnswerHeaders, sayRate } from '../limits/rate-headers.js';
import type { RateLimiter, RateVerdict } from '../limits/rate-limiter.js';
import { type Soon, whenHere } from '../server/soon.js';
import type { KeyCache } from './key-cache.js';
import { isRestricted, mayComeFrom, refusePlace, refuseRoute } from './key-restrictions.js';

/** Where admission notes whom it let in. */
export interface AdmittedVisit {
  /** The network asked for. */
  readonly network: string;
  /** The route that was taken. */
  readonly route: string;
  /** Gets the key's public prefix as soon as it is known. */
  prefix: string;
  /** Who asks: the address, and the origin where it is a page in a browser. */
  readonly client?: Client | undefined;
  /** Tells the browser which origin may read the answer; absent where nobody asked. */
  readonly allowOrigin?: ((origin: string | null) => void) | undefined;
}

/** Who asks. */
export interface Client {
  readonly ip: string;
  readonly headers: { readonly origin?: string | undefined };
}

/** Lets holders of a key in. */
export interface Admission {
  /** Who it is: throws the problems `unauthenticated` and `forbidden`. */
  identify(key: string | undefined, visit: AdmittedVisit): Soon<KeyRow>;
  /** Counts `cost` requests: throws the problems `rate-limited` and `quota-exhausted`. */
  charge(row: KeyRow, cost: number, answer: AnswerHeaders): Soon<KeyRow>;
  /** Both, for one request; rate before network and route. */
  admit(key: string | undefined, visit: AdmittedVisit, answer: AnswerHeaders): Soon<KeyRow>;
  /** Says in an answer what a key has left; nothing is counted, and of what is no key nothing is said. */
  sayLeft(key: string, answer: AnswerHeaders): Promise<void>;
  /** Whether a browser may ask with this key for a page of this origin; who has none may ask to hear so. */
  admitsOrigin(key: string | undefined, origin: string): Soon<{ admitted: boolean; forAll: boolean }>;
}

/** Makes the door: who is it, has the key ended, how much is left, is this network included. */
export function createAdmission(options: {
  keys: KeyCache;
  rateLimiter: RateLimiter;
  clock: Clock;
}): Admission {
  const { keys, rateLimiter, clock } = options;
  const known = (key: string | undefined, visit: AdmittedVisit): Soon<KeyRow> =>
    whenHere(key === undefined ? null : keys.find(key), (row) => {
      if (row === null) throw unauthenticated();
      visit.prefix = row.prefix;
      if (isRestricted(row)) refuseAbroad(row, visit);
      refuseEnded(row, clock.now());
      return row;
    });
  const charge = (row: KeyRow, cost: number, answer: AnswerHeaders): Soon<KeyRow> => {
    const rate = rateLimiter.take(row, cost);
    return rate instanceof Promise
      ? rate.then((told) => charged(row, told, cost, answer))
      : charged(row, rate, cost, answer);
  };
  return {
    identify: (key, visit) =>
      whenHere(known(key, visit), (row) => {
        refuseElsewhere(row, visit);
        // Whoever answers calls asks for each of them.
        if (visit.route !== 'rpc') refuseRoute(row, visit.route);
        return row;
      }),
    charge,
    admit: (key, visit, answer) =>
      whenHere(known(key, visit), (row) =>
        whenHere(charge(row, 1, answer), () => {
          refuseElsewhere(row, visit);
          refuseRoute(row, visit.route);
          return row;
        }),
      ),
    async sayLeft(key, answer) {
      const row = await keys.find(key);
      if (row !== null) sayRate(answer, await rateLimiter.left(row), 0);
    },
    admitsOrigin: (key, origin) =>
      whenHere(key === undefined ? null : keys.find(key), (row) => ({
        admitted: row === null || mayComeFrom(row, origin),
        forAll: row === null || row.origins.length === 0,
      })),
  };
}

/** Tells what is left; throws the problems `rate-limited` and `quota-exhausted`. */
function charged(row: KeyRow, rate: RateVerdict, cost: number, answer: AnswerHeaders): KeyRow {
  sayRate(answer, rate, cost);
  if (!rate.allowed) throw tooMany(row.plan, rate.window, Math.max(1, Math.ceil(rate.resetMs / 1_000)));
  return row;
}

/** Nobody is counted for what others do with a key that they took from its owner's page. */
function refuseAbroad(row: KeyRow, { client, allowOrigin }: AdmittedVisit): void {
  const origin = client?.headers.origin;
  if (row.origins.length > 0) allowOrigin?.(mayComeFrom(row, origin) ? (origin ?? null) : null);
  refusePlace(row, { origin, address: client?.ip ?? '' });
}

function refuseElsewhere(row: KeyRow, visit: AdmittedVisit): void {
  if (row.network !== null && row.network !== visit.network) {
    throw new Problem('forbidden', { detail: 'This API key belongs to another network.' });
  }
}

/** Throws the problem `plan-limit` where a block lies above what the plan includes. */
export function refuseAbovePlan(plan: Plan, requested: number): void {
  if (plan.maxBlock === null || requested <= plan.maxBlock) return;
  throw new Problem('plan-limit', {
    detail: `The plan "${plan.name}" includes blocks up to ${plan.maxBlock}; block ${requested} was asked for.`,
    members: { plan: plan.name, maxBlock: plan.maxBlock, requested },
  });
}

/** One text for a missing, a malformed and an unknown key, so that nobody learns which it was. */
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
