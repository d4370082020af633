import type { Database, SessionHolder } from '@packhouse/database';
import { getCsrf, getHash, isSame, isSealed, ROLES, type Role } from '@packhouse/operations';
import { type Clock, createAddressList, PackhouseError } from '@packhouse/runtime';
import type { FastifyRequest } from 'fastify';

export const SESSION_COOKIE = 'packhouse_session';

/** How long a lookup of a session is valid, in milliseconds. */
const KNOWN_MS = 1_000;
/** How long after its last request a session is looked up with others, in milliseconds, and how many at a time. */
const IN_USE_MS = 30_000;
const MAX_CONCURRENT = 500;
const MAX_KNOWN = 10_000;

/** Identifies the sender of a request. */
export interface Access {
  /** The sender of a request; null: unknown. */
  holder(request: FastifyRequest): Promise<SessionHolder | null>;
  /**
   * The same, if he has the role, or with `owners` is an account of the role owner. An API key may be in a web page, so it
   * is no such account. Throws SIGN_IN_REQUIRED, API_KEY_REFUSED, ROLE_TOO_LOW, CSRF_REFUSED.
   */
  require(
    request: FastifyRequest,
    role: Role,
    and?: { owners?: boolean | undefined },
  ): Promise<SessionHolder>;
  /** The hash of the secret of a request, as a name of its session. */
  session(request: FastifyRequest): string;
  /** Forgets a session that ends. */
  forget(secret: string): void;
}

interface Known {
  /** When the lookup expires; while it runs, never. */
  until: number;
  usedAt: number;
  /** Whether the secret exists. */
  exists: boolean;
  holder: Promise<SessionHolder | null>;
}

/** Creates it. Secrets without the MAC by `seal` are refused without a query. Each session is looked up at most once a second, and those in use together, in one statement. */
export function createAccess(parts: { clock: Clock; database: Database; seal: Buffer }): Access {
  const { clock, database, seal } = parts;
  const known = new Map<string, Known>();

  const lookUp = (secrets: readonly string[], now: number): void => {
    const holders = database.operators.holders(secrets.map(getHash));
    for (const [at, secret] of secrets.entries()) {
      const usedAt = known.get(secret)?.usedAt ?? now;
      const holder = holders.then((found) => found[at] ?? null);
      const entry: Known = { until: Number.POSITIVE_INFINITY, usedAt, exists: false, holder };
      known.set(secret, entry);
      holder.then(
        (found) => {
          entry.until = clock.elapsed() + KNOWN_MS;
          entry.exists = found !== null;
        },
        () => {
          if (known.get(secret) === entry) known.delete(secret);
        },
      );
    }
  };

  const find = (secret: string): Promise<SessionHolder | null> => {
    const now = clock.elapsed();
    const there = known.get(secret);
    if (there === undefined || there.until <= now) {
      if (known.size >= MAX_KNOWN) known.clear();
      const others = [...known].filter(
        ([other, { until, usedAt, exists }]) =>
          other !== secret && exists && until <= now && usedAt > now - IN_USE_MS,
      );
      lookUp([secret, ...others.slice(0, MAX_CONCURRENT - 1).map(([other]) => other)], now);
    }
    const entry = known.get(secret) as Known;
    entry.usedAt = now;
    return entry.holder;
  };

  const getSecret = (request: FastifyRequest): { secret: string; byCookie: boolean } | null => {
    const [, token] = /^Bearer ([\w-]+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const secret = token ?? request.cookies[SESSION_COOKIE];
    if (secret === undefined || secret === '') return null;
    return { secret, byCookie: token === undefined };
  };

  const findSealed = async (secret: string): Promise<SessionHolder | null> =>
    isSealed(seal, secret) ? find(secret) : null;

  const self: Access = {
    async holder(request) {
      const given = getSecret(request);
      return given === null ? null : findSealed(given.secret);
    },
    async require(request, role, { owners = false } = {}) {
      const given = getSecret(request);
      const holder = given === null ? null : await findSealed(given.secret);
      if (given === null || holder === null) {
        throw new PackhouseError({
          code: 'SIGN_IN_REQUIRED',
          message: given === null ? 'Not signed in.' : 'The session or token is invalid or has expired.',
          hint: 'Sign in on the first page, or send `Authorization: Bearer TOKEN`.',
        });
      }
      const changes = request.method !== 'GET' && request.method !== 'HEAD';
      const token = request.headers['x-csrf-token'];
      if (changes && given.byCookie && (typeof token !== 'string' || !isSame(token, getCsrf(given.secret)))) {
        throw new PackhouseError({
          code: 'CSRF_REFUSED',
          message: 'The x-csrf-token of the request is missing or wrong.',
          hint: 'Reload the page.',
        });
      }
      const { addresses } = holder;
      if (addresses.length > 0 && !createAddressList(addresses)(request.ip)) {
        throw new PackhouseError({
          code: 'API_KEY_REFUSED',
          message: `The API key ${holder.name} may not be used from this address.`,
          hint: 'Use it from an address that it allows.',
        });
      }
      const isOwner = holder.role === 'owner' && holder.keyId === null;
      if (ROLES.indexOf(holder.role) < ROLES.indexOf(role) && !(owners && isOwner)) {
        throw new PackhouseError({
          code: 'ROLE_TOO_LOW',
          message: `This needs the role ${role}; ${holder.name} has the role ${holder.role}.`,
          hint: 'Ask an admin.',
        });
      }
      return holder;
    },
    session: (request) => getHash(getSecret(request)?.secret ?? '').toString('hex'),
    forget: (secret) => void known.delete(secret),
  };
  return self;
}
