import { createHmac } from 'node:crypto';
import type { Database, SecretHolder } from '@packhouse/database';
import {
  getCsrf,
  getHash,
  isAllowedClient,
  isPassword,
  isSame,
  isSealed,
  makeSecret,
  readInput,
  withPasswordCheck,
} from '@packhouse/operations';
import { addressBlock, type Clock, networkBlock, PackhouseError } from '@packhouse/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Access, SESSION_COOKIE } from './access.js';
import { createSignInLimiter, locked, type Subject } from './sign-in-limiter.js';

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

/** Failures of a minute that a console hears: of an address, of the network around it, of a name, of a known browser. */
const MOST = { address: 20, network: 100, name: 30, known: 10 };

interface SignInParts {
  access: Access;
  clock: Clock;
  database: Database;
  secure: boolean;
  /** The key that secrets are sealed with. */
  seal: Buffer;
}

/** `POST /api/sign-in` by a one-time link, by name and password, or by an API key; `/api/sign-out`, `/api/session`. */
export function addSignInRoutes(app: FastifyInstance, parts: SignInParts): void {
  const { access, clock, database, seal, secure } = parts;
  const { operators } = database;
  const limiter = createSignInLimiter(clock);

  /** Counts an attempt, and takes it back if it succeeds. Throws SIGN_IN_LOCKED. */
  const counted = async (
    subjects: readonly Subject[],
    identify: () => Promise<Person | null>,
  ): Promise<Person | null> => {
    limiter.begin(subjects);
    const person = await identify();
    if (person !== null) limiter.succeeded(subjects);
    return person;
  };

  /**
   * Passwords can be guessed: wrong ones are counted by address and by name, in Postgres for all consoles. Those that a
   * browser gives in which the operator signed in before are counted on their own, so that no stranger locks him out.
   */
  const byNameAndPassword = async (
    request: FastifyRequest,
    { name, password }: z.output<typeof byPassword>,
    from: readonly Subject[],
  ): Promise<Person | null> => {
    const mark = readKnownCookie(seal, name, request.cookies[KNOWN_COOKIE]);
    const address = `address ${addressBlock(request.ip)}`;
    const pair = { name: `${address} and name ${name}`, most: MOST.name };
    const own =
      mark === null
        ? [...from, pair, { name: `name ${name}`, most: MOST.name }]
        : [{ name: `known ${name}`, most: MOST.known }];
    return counted(own, () =>
      withPasswordCheck(mark !== null, async () => {
        const found = await operators.find(name);
        const known = mark !== null && found?.password && isSame(mark, getKnownMark(name, found.password));
        const subjects = known ? [`known ${name}`] : [address, `name ${name}`];
        // First of all, so that attempts that must wait are not counted.
        const lockedMs = await operators.lockedMs(subjects);
        if (lockedMs > 0 || !(await operators.attempt(subjects))) {
          const waitMs = Math.max(lockedMs, 1_000);
          limiter.lock(known ? (own[0] as Subject) : pair, waitMs);
          throw locked(waitMs);
        }
        if (!(await isPassword(password, found?.password ?? null)) || found === null) return null;
        await operators.succeeded(subjects);
        const { id, role } = found.operator;
        return { name, role, operatorId: id, keyId: null, password: found.password };
      }),
    );
  };

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
    if ('password' in given) return byNameAndPassword(request, given, from);
    if ('key' in given) return counted(from, () => byApiKey(request, given.key));
    if (!isSealed(seal, given.link)) return null;
    return counted(from, async () => {
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
      reply.setCookie(KNOWN_COOKIE, makeKnownCookie(seal, name, password), mark);
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

/** The mark of a browser and its MAC, by which a forged one is refused without a query. */
function makeKnownCookie(seal: Buffer, name: string, password: string): string {
  const mark = getKnownMark(name, password);
  return `${mark}.${getKnownMac(seal, name, mark)}`;
}

/** The mark in the cookie of a browser in which the operator of this name signed in; null: it is none. */
function readKnownCookie(seal: Buffer, name: string, cookie = ''): string | null {
  const [mark = '', mac = ''] = cookie.split('.');
  return isSame(mac, getKnownMac(seal, name, mark)) ? mark : null;
}

function getKnownMac(seal: Buffer, name: string, mark: string): string {
  return createHmac('sha256', seal).update(`packhouse known ${mark} ${name}`).digest('base64url');
}

/** Derived from the hash of the password: it ends with the password. */
function getKnownMark(name: string, password: string): string {
  return createHmac('sha256', password).update(`packhouse known ${name}`).digest('base64url');
}
