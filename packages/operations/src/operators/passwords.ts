import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { PackhouseError } from '@packhouse/runtime';
import { argon2id, argon2Verify } from 'hash-wasm';

/** Argon2id as OWASP's Password Storage Cheat Sheet asks at least: 19 MiB, 2 passes, 1 lane. */
const COST = {
  parallelism: 1,
  iterations: 2,
  memorySize: 19_456,
  hashLength: 32,
  outputType: 'encoded',
} as const;

/** Hashes in the queue. */
const MAX_WAITING = 16;

let waiting = 0;
let last: Promise<unknown> = Promise.resolve();

/**
 * Hashes one at a time, and lets the process do something else between two: each takes 20 MB for
 * about 100 ms. Throws SIGN_IN_LOCKED if too many wait.
 */
async function inTurn<T>(hash: () => Promise<T>): Promise<T> {
  if (waiting >= MAX_WAITING) {
    throw new PackhouseError({
      code: 'SIGN_IN_LOCKED',
      message: 'Too many sign-ins at once.',
      hint: 'Retry, or sign in by a one-time link.',
      data: { retryAfterMs: 2_000 },
    });
  }
  waiting += 1;
  const turn = last.then(() => setImmediate()).then(hash);
  last = turn.then(
    () => undefined,
    () => undefined,
  );
  return turn.finally(() => {
    waiting -= 1;
  });
}

/** The hash of a password in PHC form. Throws SIGN_IN_LOCKED. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => argon2id({ password, salt: randomBytes(16), ...COST }));
}

let nobody: string | undefined;

/** Whether this is the password; without a hash it takes as long and is not. Throws SIGN_IN_LOCKED. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  nobody ??= await hashPassword(randomBytes(16).toString('hex'));
  const known = hash ?? nobody;
  const same = await inTurn(() => argon2Verify({ password, hash: known }));
  return same && hash !== null;
}
