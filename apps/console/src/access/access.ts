import type { Database, SecretHolder } from '@packhouse/database';
import type { Role } from '@packhouse/operations';
import { csrfOf, hashOf, isSame } from '@packhouse/operations';
import { type Clock, PackhouseError } from '@packhouse/runtime';
import type { FastifyRequest } from 'fastify';

export const SESSION_COOKIE = 'packhouse_session';

/** How long an answer of the database about a session counts, in milliseconds. */
const KNOWN_MS = 1_000;
/** How long after its last request a session is looked up with others, in milliseconds, and how many at a time. */
const IN_USE_MS = 30_000;
const MOST_AT_ONCE = 500;
const MOST_KNOWN = 10_000;
/** Longest secret that is looked at, in characters. */
const LONGEST = 256;

const RANK: Readonly<Record<SecretHolder['role'], number>> = { owner: 0, viewer: 1, operator: 2, admin: 3 };

/** Knows who asks. */
export interface Access {
  /** Who sent the request; null: nobody who is known. A change by a session must carry its CSRF token. */
  holder(request: FastifyRequest): Promise<SecretHolder | null>;
  /** The same; throws SIGN_IN_REQUIRED, ROLE_TOO_LOW, CSRF_REFUSED. */
  require(request: FastifyRequest, role: Role | 'owner'): Promise<SecretHolder>;
  /** Forgets what is remembered of a session that ends. */
  forget(secret: string): void;
}

interface Known {
  /** When what is known ends to count; while it is read, never. */
  until: number;
  usedAt: number;
  /** Whether it is the secret of somebody. */
  lives: boolean;
  holder: Promise<SecretHolder | null>;
}

/** Creates it. Each session is looked up at most once a second, and those in use together, in one statement. */
export function createAccess({ clock, database }: { clock: Clock; database: Database }): Access {
  const known = new Map<string, Known>();

  const look = (secrets: readonly string[], now: number): void => {
    const holders = database.operators.holders(secrets.map(hashOf));
    for (const [at, secret] of secrets.entries()) {
      const usedAt = known.get(secret)?.usedAt ?? now;
      const holder = holders.then((found) => found[at] ?? null);
      const entry: Known = { until: Number.POSITIVE_INFINITY, usedAt, lives: false, holder };
      known.set(secret, entry);
      holder.then(
        (found) => {
          entry.until = clock.elapsed() + KNOWN_MS;
          entry.lives = found !== null;
        },
        () => {
          if (known.get(secret) === entry) known.delete(secret);
        },
      );
    }
  };

  const find = (secret: string): Promise<SecretHolder | null> => {
    const now = clock.elapsed();
    const there = known.get(secret);
    if (there === undefined || there.until <= now) {
      if (known.size >= MOST_KNOWN) known.clear();
      const others = [...known].filter(
        ([other, { until, usedAt, lives }]) =>
          other !== secret && lives && until <= now && usedAt > now - IN_USE_MS,
      );
      look([secret, ...others.slice(0, MOST_AT_ONCE - 1).map(([other]) => other)], now);
    }
    const entry = known.get(secret) as Known;
    entry.usedAt = now;
    return entry.holder;
  };

  const secretOf = (request: FastifyRequest): { secret: string; byCookie: boolean } | null => {
    const [, token] = /^Bearer ([\w-]+)$/i.exec(request.headers.authorization ?? '') ?? [];
    const secret = token ?? request.cookies[SESSION_COOKIE];
    if (secret === undefined || secret === '' || secret.length > LONGEST) return null;
    return { secret, byCookie: token === undefined };
  };

  const self: Access = {
    async holder(request) {
      const given = secretOf(request);
      return given === null ? null : find(given.secret);
    },
    async require(request, role) {
      const given = secretOf(request);
      const holder = given === null ? null : await find(given.secret);
      if (given === null || holder === null) {
        throw new PackhouseError({
          code: 'SIGN_IN_REQUIRED',
          message:
            given === null ? 'Nobody is signed in.' : 'The session or token has ended, or it never was one.',
          hint: 'Sign in on the first page, or send `Authorization: Bearer TOKEN`.',
        });
      }
      const changes = request.method !== 'GET' && request.method !== 'HEAD';
      const token = request.headers['x-csrf-token'];
      if (changes && given.byCookie && (typeof token !== 'string' || !isSame(token, csrfOf(given.secret)))) {
        throw new PackhouseError({
          code: 'CSRF_REFUSED',
          message:
            'The change did not come from a page of this console: its x-csrf-token is missing or wrong.',
          hint: 'Reload the page.',
        });
      }
      if (RANK[holder.role] < RANK[role]) {
        throw new PackhouseError({
          code: 'ROLE_TOO_LOW',
          message: `This needs the role ${role}, and ${holder.name} has the role ${holder.role}.`,
          hint: 'Ask an admin of this installation.',
        });
      }
      return holder;
    },
    forget: (secret) => void known.delete(secret),
  };
  return self;
}
