import type { Database } from '@packhouse/database';
import { getCsrf, getHash, isAllowedClient, isSealed, makeSecret, readInput } from '@packhouse/operations';
import {
  addressBlock,
  type Context,
  type ErrorCode,
  isPackhouseError,
  networkBlock,
  PackhouseError,
} from '@packhouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Access, SESSION_COOKIE } from './access.js';
import { createPasswordSignIn, type Person } from './password-sign-in.js';
import { createSignInLimiter, MOST } from './sign-in-limiter.js';

/** How long a session lasts, in milliseconds. */
const SESSION_MS = 12 * 3_600_000;
/** Marks a browser in which an operator signed in by password; its lifetime in seconds. */
const KNOWN_COOKIE = 'packhouse_known';
const KNOWN_S = 90 * 86_400;

/** Refusals that may be attempts to guess, or of stolen keys; a body that cannot be read is none. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['SIGN_IN_REFUSED', 'SIGN_IN_LOCKED', 'API_KEY_REFUSED']);

const byLink = z.object({ link: z.string().min(1).max(128) });
const passwordInput = z.object({ name: z.string().min(1).max(200), password: z.string().min(1).max(1_024) });
const byKey = z.object({ key: z.string().min(1).max(256) });
const signIn = z.union([byLink, passwordInput, byKey]);

interface SignInParts {
  access: Access;
  context: Pick<Context, 'clock' | 'metrics'>;
  database: Database;
  secure: boolean;
  /** The key that secrets are sealed with. */
  seal: Buffer;
}

/** `POST /api/sign-in` by a one-time link, by name and password, or by an API key; `/api/sign-out`, `/api/session`. */
export function addSignInRoutes(app: FastifyInstance, parts: SignInParts): void {
  const { access, context, database, seal, secure } = parts;
  const { clock, metrics } = context;
  const { operators } = database;
  const limiter = createSignInLimiter(clock);
  const refused = metrics.counter('packhouse_console_sign_ins_refused_total', 'Refused sign-ins.', ['code']);

  const byPassword = createPasswordSignIn({ operators, limiter, seal });

  const byApiKey = async (request: FastifyRequest, key: string): Promise<Person | null> => {
    const row = await database.keys.find(getHash(key));
    if (row === null || row.revokedAt !== null) return null;
    if (row.expiresAt !== null && row.expiresAt.getTime() <= clock.now()) return null;
    if (!isAllowedClient(row, { address: request.ip, origin: request.headers.origin })) {
      throw new PackhouseError({
        code: 'API_KEY_REFUSED',
        message: 'The restrictions of this API key do not allow its use here.',
        hint: 'Use it from an address and origin that it allows; it must allow `usage`.',
      });
    }
    return { name: row.prefix, role: 'owner', operatorId: null, keyId: row.id, password: null };
  };

  const identify = async (request: FastifyRequest): Promise<Person | null> => {
    const given = readInput(signIn, request.body);
    const from = [
      { name: `address ${addressBlock(request.ip)}`, most: MOST.address },
      { name: `network ${networkBlock(request.ip)}`, most: MOST.network },
    ];
    if ('password' in given) {
      const known = request.cookies[KNOWN_COOKIE];
      return byPassword.identify({ ...given, address: request.ip, known }, from);
    }
    if ('key' in given) return limiter.counted(from, () => byApiKey(request, given.key));
    if (!isSealed(seal, given.link)) return null;
    return limiter.counted(from, async () => {
      const taken = await operators.takeLink(getHash(given.link));
      return taken && { ...taken, password: null };
    });
  };

  const cookie = { path: '/', httpOnly: true, sameSite: 'strict', secure } as const;
  const start = async (reply: FastifyReply, person: Person | null): Promise<object> => {
    const session = makeSecret(seal);
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
      reply.setCookie(KNOWN_COOKIE, byPassword.makeKnownCookie(name, password), mark);
    }
    return { name, role, csrf: getCsrf(session), expiresInMs: SESSION_MS };
  };

  app.post('/api/sign-in', async (request, reply) => {
    try {
      return await start(reply, await identify(request));
    } catch (error) {
      if (isPackhouseError(error) && REFUSALS.has(error.code)) refused.inc({ code: error.code });
      throw error;
    }
  });

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
