import { createHmac } from 'node:crypto';
import type { Database, SecretHolder } from '@packhouse/database';
import { getCsrf, getHash, isPassword, isSame, makeSecret, readInput } from '@packhouse/operations';
import { type Clock, PackhouseError } from '@packhouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Access, SESSION_COOKIE } from './access.js';

/** How long a session lasts, in milliseconds. */
const SESSION_MS = 12 * 3_600_000;
/** Marks a browser in which an operator signed in by password; its lifetime in seconds. */
const KNOWN_COOKIE = 'packhouse_known';
const KNOWN_S = 90 * 86_400;

const byLink = z.object({ link: z.string().min(1).max(128) });
const byPassword = z.object({ name: z.string().min(1).max(200), password: z.string().min(1).max(1_024) });
const byKey = z.object({ key: z.string().min(1).max(256) });
const signIn = z.union([byLink, byPassword, byKey]);

interface Person extends Pick<SecretHolder, 'name' | 'role' | 'operatorId' | 'keyId'> {
  /** The hash of the given password; null: none given. */
  password: string | null;
}

/** `POST /api/sign-in` by a one-time link, by name and password, or by an API key; `/api/sign-out`, `/api/session`. */
export function addSignInRoutes(
  app: FastifyInstance,
  { access, clock, database, secure }: { access: Access; clock: Clock; database: Database; secure: boolean },
): void {
  const { operators } = database;

  /**
   * Links and keys cannot be guessed; passwords can, and wrong ones are counted by address and by name. Those that a
   * browser gives in which the operator signed in before are counted on their own, so that no stranger locks him out.
   */
  const byNameAndPassword = async (
    request: FastifyRequest,
    { name, password }: z.output<typeof byPassword>,
  ): Promise<Person | null> => {
    const found = await operators.find(name);
    const mark = request.cookies[KNOWN_COOKIE];
    const known = found?.password && mark !== undefined && isSame(mark, getKnownMark(name, found.password));
    const subjects = known ? [`known ${name}`] : [`address ${request.ip}`, `name ${name}`];
    // First of all, so that attempts that must wait are not counted.
    const lockedMs = await operators.lockedMs(subjects);
    if (lockedMs > 0 || !(await operators.attempt(subjects))) {
      const retryAfterMs = Math.max(lockedMs, 1_000);
      throw new PackhouseError({
        code: 'SIGN_IN_LOCKED',
        message: `Too many failed attempts. Retry in ${Math.ceil(retryAfterMs / 1_000)} s.`,
        hint: 'Or run `packhouse operators link NAME` for a one-time link.',
        data: { retryAfterMs },
      });
    }
    if (!(await isPassword(password, found?.password ?? null)) || found === null) return null;
    await operators.succeeded(subjects);
    const { id, role } = found.operator;
    return { name, role, operatorId: id, keyId: null, password: found.password };
  };

  const identify = async (request: FastifyRequest): Promise<Person | null> => {
    const given = readInput(signIn, request.body);
    if ('password' in given) return byNameAndPassword(request, given);
    if ('link' in given) {
      const taken = await operators.takeLink(getHash(given.link));
      return taken && { ...taken, password: null };
    }
    const row = await database.keys.find(getHash(given.key));
    if (row === null || row.revokedAt !== null) return null;
    if (row.expiresAt !== null && row.expiresAt.getTime() <= clock.now()) return null;
    return { name: row.prefix, role: 'owner', operatorId: null, keyId: row.id, password: null };
  };

  const cookie = { path: '/', httpOnly: true, sameSite: 'strict', secure } as const;
  const start = async (reply: FastifyReply, person: Person | null): Promise<object> => {
    const session = makeSecret();
    const { operatorId = null, keyId = null, role = 'owner', password = null } = person ?? {};
    const secret = { kind: 'session', operatorId, keyId, role, forMs: SESSION_MS, password } as const;
    if (person === null || !(await operators.keep({ sha256: getHash(session), ...secret }))) {
      throw new PackhouseError({
        code: 'SIGN_IN_REFUSED',
        message: 'Wrong link, name, password or key.',
        hint: 'A link works once, for ten minutes. Run `packhouse operators link NAME` for a new one.',
      });
    }
    const { name } = person;
    reply.setCookie(SESSION_COOKIE, session, { ...cookie, maxAge: SESSION_MS / 1_000 });
    if (password !== null) {
      const mark = { ...cookie, path: '/api/sign-in', maxAge: KNOWN_S };
      reply.setCookie(KNOWN_COOKIE, getKnownMark(name, password), mark);
    }
    return { name, role, csrf: getCsrf(session), expiresInMs: SESSION_MS };
  };

  app.post('/api/sign-in', async (request, reply) => start(reply, await identify(request)));

  app.get('/api/session', async (request) => {
    const { name, role, expiresAt } = await access.require(request, 'owner');
    const session = request.cookies[SESSION_COOKIE];
    return { name, role, expiresAt, csrf: session === undefined ? null : getCsrf(session) };
  });

  app.post('/api/sign-out', async (request, reply) => {
    await access.require(request, 'owner');
    const session = request.cookies[SESSION_COOKIE];
    if (session !== undefined) {
      await operators.drop(getHash(session));
      access.forget(session);
    }
    reply.clearCookie(SESSION_COOKIE, cookie);
    return {};
  });
}

/** Derived from the hash of the password: it ends with the password. */
function getKnownMark(name: string, password: string): string {
  return createHmac('sha256', password).update(`packhouse known ${name}`).digest('base64url');
}
