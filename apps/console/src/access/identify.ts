import type { Database, SignIn } from '@packhouse/database';
import { getHash, isAllowedClient, isSealed } from '@packhouse/operations';
import { type Clock, PackhouseError } from '@packhouse/runtime';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { createPasswordSignIn, Person } from './password-sign-in.js';
import { type SignInLimiter, subjectsOf } from './sign-in-limiter.js';

/** Marks a browser in which an operator signed in by password. */
export const KNOWN_COOKIE = 'packhouse_known';

const byLink = z.object({ link: z.string().min(1).max(128) });
const passwordInput = z.object({ name: z.string().min(1).max(200), password: z.string().min(1).max(1_024) });
const byKey = z.object({ key: z.string().min(1).max(256) });
/** A one-time link, a name and a password, or an API key. */
export const signInInput = z.union([byLink, passwordInput, byKey]);

type Method = Exclude<SignIn['method'], 'oidc'>;
type Given = z.output<typeof signInInput>;

/** Creates what tells who somebody is; null: nobody. Throws SIGN_IN_LOCKED, SIGN_IN_REFUSED, API_KEY_REFUSED. */
export function createIdentify(parts: {
  byPassword: ReturnType<typeof createPasswordSignIn>;
  clock: Pick<Clock, 'now'>;
  database: Pick<Database, 'keys' | 'operators'>;
  limiter: SignInLimiter;
  /** Whether passwords sign in. */
  passwords: boolean;
  seal: Buffer;
}) {
  const { byPassword, clock, database, limiter, passwords, seal } = parts;

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

  return async (request: FastifyRequest, given: Given): Promise<Person | null> => {
    const from = subjectsOf(request.ip);
    if ('password' in given) {
      if (!passwords) return limiter.counted(from, () => Promise.reject(passwordsOff()));
      const known = request.cookies[KNOWN_COOKIE];
      return byPassword.identify({ ...given, address: request.ip, known }, from);
    }
    if ('key' in given) return limiter.counted(from, () => byApiKey(request, given.key));
    if (!isSealed(seal, given.link)) return null;
    return limiter.counted(from, async () => {
      const taken = await database.operators.takeLink(getHash(given.link));
      return taken && { ...taken, password: null };
    });
  };
}

/** What is written down of an attempt: no secret. */
export function toAttempt(given: Given): { method: Method; name: string } {
  if ('password' in given) return { method: 'password', name: given.name };
  if ('link' in given) return { method: 'link', name: '' };
  return { method: 'key', name: '' };
}

function passwordsOff(): PackhouseError {
  return new PackhouseError({
    code: 'SIGN_IN_REFUSED',
    message: 'Passwords do not sign in at this console (PASSWORD_SIGN_IN=off).',
    hint: 'Sign in at the provider, or run `packhouse operators link NAME` for a one-time link.',
  });
}
