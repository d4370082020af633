import { createHmac } from 'node:crypto';
import type { Database, SecretHolder } from '@packhouse/database';
import { isPassword, isSame, withPasswordCheck } from '@packhouse/operations';
import { addressBlock } from '@packhouse/runtime';
import { locked, MOST, type SignInLimiter, type Subject } from './sign-in-limiter.js';

/** Who signs in. */
export interface Person extends Pick<SecretHolder, 'name' | 'role' | 'operatorId' | 'keyId'> {
  /** The hash of the given password; null: none given. */
  password: string | null;
}

interface Attempt {
  name: string;
  password: string;
  address: string;
  /** The cookie of a browser in which an operator signed in before. */
  known: string | undefined;
}

/**
 * Passwords can be guessed: wrong ones are counted by address and by name, in Postgres for all consoles. Those that a
 * browser gives in which the operator signed in before are counted on their own, so that no stranger locks him out.
 */
export function createPasswordSignIn(parts: {
  operators: Database['operators'];
  limiter: SignInLimiter;
  seal: Buffer;
}) {
  const { limiter, operators, seal } = parts;

  const check = async (
    { address, name, password }: Attempt,
    mark: string | null,
    lock: (forMs: number) => void,
  ): Promise<Person | null> => {
    const found = await operators.find(name);
    const known = mark !== null && found?.password && isSame(mark, getKnownMark(name, found.password));
    const subjects = known ? [`known ${name}`] : [`address ${addressBlock(address)}`, `name ${name}`];
    // First of all, so that attempts that must wait are not counted.
    const lockedMs = await operators.lockedMs(subjects);
    if (lockedMs > 0 || !(await operators.attempt(subjects))) {
      const waitMs = Math.max(lockedMs, 1_000);
      lock(waitMs);
      throw locked(waitMs);
    }
    if (!(await isPassword(password, found?.password ?? null)) || found === null) return null;
    await operators.succeeded(subjects);
    const { id, role } = found.operator;
    return { name, role, operatorId: id, keyId: null, password: found.password };
  };

  return {
    /** `from`: whom an attempt of a stranger counts for beside the name. Throws SIGN_IN_LOCKED. */
    identify(attempt: Attempt, from: readonly Subject[]): Promise<Person | null> {
      const { address, name } = attempt;
      const mark = readKnownCookie(seal, name, attempt.known);
      const own =
        mark === null
          ? { name: `address ${addressBlock(address)} and name ${name}`, most: MOST.name }
          : { name: `known ${name}`, most: MOST.known };
      const subjects = mark === null ? [...from, own, { name: `name ${name}`, most: MOST.name }] : [own];
      return limiter.counted(subjects, () =>
        withPasswordCheck(mark !== null, () => check(attempt, mark, (forMs) => limiter.lock(own, forMs))),
      );
    },
    /** The cookie that marks a browser in which the operator signed in. `password` is its hash. */
    makeKnownCookie: (name: string, password: string) => toKnownCookie(seal, name, password),
  };
}

/** The mark of a browser and its MAC, by which a forged one is refused without a query. */
function toKnownCookie(seal: Buffer, name: string, password: string): string {
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
