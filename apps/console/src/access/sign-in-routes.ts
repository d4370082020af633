import type { Database, SecretHolder } from '@packhouse/database';
import { csrfOf, hashOf, isPassword, makeSecret, readInput } from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Access, SESSION_COOKIE } from './access.js';

/** How long a session lasts, in milliseconds. */
const SESSION_MS = 12 * 3_600_000;

const byLink = z.object({ link: z.string().min(1).max(128) });
const byPassword = z.object({ name: z.string().min(1).max(200), password: z.string().min(1).max(1_024) });
const byKey = z.object({ key: z.string().min(1).max(256) });
const signIn = z.union([byLink, byPassword, byKey]);

type Person = Pick<SecretHolder, 'name' | 'role' | 'operatorId' | 'keyId'>;

/** `POST /api/sign-in` by a one-time link, by name and password, or by an API key; `/api/sign-out`, `/api/session`. */
export function addSignInRoutes(
  app: FastifyInstance,
  { access, database, secure }: { access: Access; database: Database; secure: boolean },
): void {
  const { operators } = database;

  /** Throws SIGN_IN_LOCKED while one of the subjects failed too often. */
  const attempt = async (
    subjects: readonly string[],
    look: () => Promise<Person | null>,
  ): Promise<Person> => {
    const lockedMs = await operators.lockedMs(subjects);
    if (lockedMs > 0) {
      throw new PackhouseError({
        code: 'SIGN_IN_LOCKED',
        message: `Too many attempts failed: the next one is heard in ${Math.ceil(lockedMs / 1_000)} s.`,
        data: { retryAfterMs: lockedMs },
      });
    }
    const person = await look();
    if (person === null) {
      await operators.failed(subjects);
      throw new PackhouseError({
        code: 'SIGN_IN_REFUSED',
        message: 'That link, that name with that password, or that key signs nobody in.',
        hint: 'A link works once and for ten minutes; `packhouse operators link NAME` prints a new one.',
      });
    }
    await operators.succeeded(subjects);
    return person;
  };

  const identify = async (request: FastifyRequest): Promise<Person> => {
    const given = readInput(signIn, request.body);
    const address = `address ${request.ip}`;
    if ('link' in given) return attempt([address], () => operators.takeLink(hashOf(given.link)));
    if ('key' in given) {
      return attempt([address], async () => {
        const row = await database.keys.find(hashOf(given.key));
        if (row === null || row.revokedAt !== null) return null;
        return { name: row.prefix, role: 'owner', operatorId: null, keyId: row.id };
      });
    }
    return attempt([address, `name ${given.name}`], async () => {
      const found = await operators.find(given.name);
      if (!(await isPassword(given.password, found?.password ?? null)) || found === null) return null;
      const { id, name, role } = found.operator;
      return { name, role, operatorId: id, keyId: null };
    });
  };

  const cookie = { path: '/', httpOnly: true, sameSite: 'strict', secure } as const;
  const start = async (reply: FastifyReply, { name, role, operatorId, keyId }: Person): Promise<object> => {
    const session = makeSecret();
    const secret = { kind: 'session', operatorId, keyId, role, forMs: SESSION_MS } as const;
    await operators.keep({ sha256: hashOf(session), ...secret });
    reply.setCookie(SESSION_COOKIE, session, { ...cookie, maxAge: SESSION_MS / 1_000 });
    return { name, role, csrf: csrfOf(session), expiresInMs: SESSION_MS };
  };

  app.post('/api/sign-in', async (request, reply) => start(reply, await identify(request)));

  app.get('/api/session', async (request) => {
    const { name, role, expiresAt } = await access.require(request, 'owner');
    const session = request.cookies[SESSION_COOKIE];
    return { name, role, expiresAt, csrf: session === undefined ? null : csrfOf(session) };
  });

  app.post('/api/sign-out', async (request, reply) => {
    await access.require(request, 'owner');
    const session = request.cookies[SESSION_COOKIE];
    if (session !== undefined) {
      await operators.drop(hashOf(session));
      access.forget(session);
    }
    reply.clearCookie(SESSION_COOKIE, cookie);
    return {};
  });
}
