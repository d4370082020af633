import type { Database, SignIn } from '@packhouse/database';
import { getCsrf, getHash, isSealed, makeSecret, readInput } from '@packhouse/operations';
import {
  addressBlock,
  type Context,
  type ErrorCode,
  isPackhouseError,
  PackhouseError,
} from '@packhouse/runtime';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Access, SESSION_COOKIE } from './access.js';
import { createIdentify, KNOWN_COOKIE, signInInput, toAttempt } from './identify.js';
import { addOidcRoutes, type OidcOptions } from './oidc-routes.js';
import { createPasswordSignIn, type Person } from './password-sign-in.js';
import { createSignInLimiter } from './sign-in-limiter.js';

/** How long a session lasts, in milliseconds. */
const SESSION_MS = 12 * 3_600_000;
/** The lifetime of KNOWN_COOKIE, in seconds. */
const KNOWN_S = 90 * 86_400;

/** Refusals that may be attempts to guess, or of stolen keys; a body that cannot be read is none. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['SIGN_IN_REFUSED', 'SIGN_IN_LOCKED', 'API_KEY_REFUSED']);

interface SignInParts {
  access: Access;
  context: Pick<Context, 'clock' | 'logger' | 'metrics'>;
  database: Database;
  /** The provider that operators sign in at; undefined: none. */
  oidc: OidcOptions | undefined;
  /** Whether passwords sign in. */
  passwords: boolean;
  secure: boolean;
  /** The public URL of the console. */
  url: string | undefined;
  /** The key that secrets are sealed with. */
  seal: Buffer;
}

/**
 * `POST /api/sign-in` by a one-time link, by name and password, or by an API key; `GET` says which ways there are.
 * `/api/sign-out`, `/api/session`, and the routes of OIDC.
 */
export function addSignInRoutes(app: FastifyInstance, parts: SignInParts): void {
  const { access, context, database, oidc, passwords, seal, secure, url } = parts;
  const { clock, metrics } = context;
  const { operators } = database;
  const limiter = createSignInLimiter(clock);
  const refused = metrics.counter('packhouse_console_sign_ins_refused_total', 'Refused sign-ins.', ['code']);

  const byPassword = createPasswordSignIn({ operators, limiter, seal });
  const identify = createIdentify({ byPassword, clock, database, limiter, passwords, seal });

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
    return { name, role, isKey: keyId !== null, csrf: getCsrf(session), expiresInMs: SESSION_MS };
  };

  const record = async (attempt: Omit<SignIn, 'id' | 'at'>): Promise<void> => {
    if (attempt.outcome !== 'accepted') refused.inc({ code: attempt.outcome });
    await database.signIns.add(attempt);
  };

  app.post('/api/sign-in', async (request, reply) => {
    const given = readInput(signInInput, request.body);
    const tried = { ...toAttempt(given), address: addressBlock(request.ip) };
    try {
      const person = await identify(request, given);
      const session = await start(reply, person);
      await record({ ...tried, name: person?.name ?? tried.name, outcome: 'accepted' });
      return session;
    } catch (error) {
      if (!isPackhouseError(error) || !REFUSALS.has(error.code)) throw error;
      // A flood of what must wait or is forged is no query: it is counted only.
      const cheap = error.code === 'SIGN_IN_LOCKED' || ('link' in given && !isSealed(seal, given.link));
      if (cheap) refused.inc({ code: error.code });
      else await record({ ...tried, outcome: error.code });
      throw error;
    }
  });

  const provider =
    oidc && addOidcRoutes(app, oidc, { context, database, limiter, seal, secure, url, start, record });
  app.get('/api/sign-in', async (request, reply) => ({
    password: passwords,
    oidc: provider?.describe(request, reply) ?? null,
  }));

  app.get('/api/session', async (request) => {
    const { name, role, keyId, expiresAt } = await access.require(request, 'owner');
    const session = request.cookies[SESSION_COOKIE];
    return {
      name,
      role,
      isKey: keyId !== null,
      expiresAt,
      csrf: session === undefined ? null : getCsrf(session),
    };
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
