import type { Database, SignIn } from '@packhouse/database';
import { getHash } from '@packhouse/operations';
import { addressBlock, type Context, isPackhouseError, PackhouseError } from '@packhouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NoRoleError, type OidcRules, toOidcPerson, wantedClaims } from './oidc-person.js';
import { createOidcProvider, type OidcAttempt, type OidcClient } from './oidc-provider.js';
import type { Person } from './password-sign-in.js';
import { createSealedCookies } from './sealed-cookies.js';
import { type SignInLimiter, subjectsOf } from './sign-in-limiter.js';

/** The provider that operators sign in at. */
export interface OidcOptions extends OidcClient, OidcRules {
  /** On the button. */
  label: string;
}

interface OidcParts {
  context: Pick<Context, 'clock' | 'logger'>;
  database: Pick<Database, 'signIns'>;
  limiter: SignInLimiter;
  /** The key that cookies are sealed with. */
  seal: Buffer;
  secure: boolean;
  /** The public URL of the console. */
  url: string | undefined;
  /** Gives the browser a session. */
  start(reply: FastifyReply, person: Person): Promise<object>;
  /** Writes down how an attempt ended. */
  record(attempt: Omit<SignIn, 'id' | 'at'>): Promise<void>;
}

/** What the cookie of a browser keeps while its owner is at the provider. */
interface Kept extends OidcAttempt {
  /** The address that the provider sends the browser back to. */
  redirectUri: string;
  /** In milliseconds since 1970. */
  until: number;
}

const OIDC_PATH = '/api/sign-in/oidc';
const COOKIE = 'packhouse_oidc';
/** How long somebody may be at the provider, in milliseconds. */
const ATTEMPT_MS = 600_000;
/** Where the sign-in screen reads why it failed, and for how long, in seconds. */
const PROBLEM_COOKIE = 'packhouse_problem';
const PROBLEM_S = 60;

/**
 * `GET /api/sign-in/oidc` sends the browser to the provider, which sends it back to `…/callback`; that one answers with a
 * session and leads to the pages, whether it succeeded or not. The cookies are `lax`, as the browser comes from elsewhere.
 */
export function addOidcRoutes(app: FastifyInstance, options: OidcOptions, parts: OidcParts) {
  const { context, database, limiter, seal, secure, start, record } = parts;
  const { clock, logger } = context;
  const provider = createOidcProvider({ clock, logger, client: options });
  const cookies = createSealedCookies({ seal, secure, path: '/api/sign-in' });

  /** The person whom the provider sent back. Each state works once, over all consoles. */
  const identify = async (request: FastifyRequest, kept: Kept): Promise<Person> => {
    if (!(await database.signIns.takeState(getHash(kept.state), ATTEMPT_MS)))
      throw refused('This sign-in was used already.');
    const back = new URL(kept.redirectUri);
    back.search = new URL(request.url, kept.redirectUri).search;
    const claims = await provider.end(back, kept, wantedClaims(options));
    const person = toOidcPerson(claims, options);
    const operator = await database.signIns.admit(person);
    if (operator === null) {
      throw refused(
        `An operator ${person.name} exists who does not sign in at this provider.`,
        `If it is the same person: \`packhouse operators remove ${person.name}\`, then sign in again.`,
      );
    }
    const { id, name, role } = operator;
    return { name, role, operatorId: id, keyId: null, password: null };
  };

  const callback = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const address = addressBlock(request.ip);
    const kept = cookies.take<Kept>(request, reply, COOKIE);
    // Without a cookie of ours nothing was begun here: nobody is asked, and nothing is written.
    if (kept === null || kept.until < clock.now()) {
      throw refused('No sign-in is in progress in this browser, or it took longer than ten minutes.');
    }
    try {
      const person = await limiter.counted(subjectsOf(request.ip), () => identify(request, kept));
      if (person !== null) await start(reply, person);
      await record({ method: 'oidc', name: person?.name ?? '', address, outcome: 'accepted' });
    } catch (error) {
      if (error instanceof NoRoleError) await database.signIns.expel(error.subject);
      const code = isPackhouseError(error) ? error.code : 'INTERNAL';
      const name = error instanceof NoRoleError ? error.person : '';
      if (code !== 'SIGN_IN_LOCKED') await record({ method: 'oidc', name, address, outcome: code });
      throw error;
    }
  };

  /** A browser shows no JSON: the page says what went wrong. */
  const leadTo =
    (work: (request: FastifyRequest, reply: FastifyReply) => Promise<string>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      try {
        return reply.redirect(await work(request, reply));
      } catch (error) {
        if (!isPackhouseError(error)) logger.error({ err: error }, 'a sign-in by OIDC failed');
        else logger.warn({ code: error.code, err: error }, 'a sign-in by OIDC was refused');
        cookies.keep(reply, PROBLEM_COOKIE, toProblem(error), PROBLEM_S);
        return reply.redirect('/');
      }
    };

  app.get(
    OIDC_PATH,
    leadTo(async (request, reply) => {
      const origin = parts.url === undefined ? `http://${request.headers.host}` : new URL(parts.url).origin;
      const redirectUri = `${origin}${OIDC_PATH}/callback`;
      const { url, attempt } = await provider.begin(redirectUri);
      const kept: Kept = { ...attempt, redirectUri, until: clock.now() + ATTEMPT_MS };
      cookies.keep(reply, COOKIE, kept, ATTEMPT_MS / 1_000);
      return url.href;
    }),
  );

  app.get(
    `${OIDC_PATH}/callback`,
    leadTo(async (request, reply) => {
      await callback(request, reply);
      return '/';
    }),
  );

  // The log says at once if the provider cannot be used; nothing waits for it.
  void provider.probe();

  return {
    /** What the sign-in screen shows: the button, whether it can work, and why the last attempt of this browser failed. */
    describe: (request: FastifyRequest, reply: FastifyReply) => ({
      label: options.label,
      unavailable: provider.problem(),
      problem: cookies.take<Record<string, unknown>>(request, reply, PROBLEM_COOKIE),
    }),
  };
}

/** What the sign-in screen shows. */
function toProblem(error: unknown): { code: string; message: string; hint?: string | undefined } {
  if (!isPackhouseError(error))
    return { code: 'INTERNAL', message: 'Internal error of the console: see its log.' };
  const { code, message, hint } = error;
  return { code, message, hint };
}

function refused(message: string, hint = 'Sign in again.'): PackhouseError {
  return new PackhouseError({ code: 'OIDC_REFUSED', message, hint });
}
