import { createThreadPool, PackhouseError } from '@packhouse/runtime';

/** To hash a password (no hash), or to compare it with one. */
export interface PasswordOrder {
  password: string;
  hash: string | null;
}

/** Checks at a time, with those that wait: of strangers, and of all. */
const MAX_OF_STRANGERS = 8;
const MAX_CHECKS = 12;

// One thread: a hash takes 20 MB for about 100 ms, and the other cores are for the requests of others.
const pool = createThreadPool<PasswordOrder, string | boolean>({
  threads: 1,
  idleMs: 30_000,
  // The built program: tests from sources need it, too, because threads read no TypeScript.
  program: new URL('../../dist/operators/password-thread.js', import.meta.url),
});
const ask = (order: PasswordOrder): Promise<string | boolean> =>
  pool.run(order.password.length, () => ({ order, moved: [] }));

let checks = 0;

/**
 * Does `work` while it has a place in the queue of checks; those who are `known` have places of their own. Throws
 * SIGN_IN_LOCKED at once if none is free, so that a flood of sign-ins costs neither time nor queries.
 */
export async function withPasswordCheck<T>(known: boolean, work: () => Promise<T>): Promise<T> {
  if (checks >= (known ? MAX_CHECKS : MAX_OF_STRANGERS)) {
    throw new PackhouseError({
      code: 'SIGN_IN_LOCKED',
      message: 'Too many sign-ins at once.',
      hint: 'Retry, or sign in by a one-time link.',
      data: { retryAfterMs: 2_000 },
    });
  }
  checks += 1;
  try {
    return await work();
  } finally {
    checks -= 1;
  }
}

/** The hash of a password in PHC form. */
export async function hashPassword(password: string): Promise<string> {
  return String(await ask({ password, hash: null }));
}

/** Whether this is the password; without a hash it takes as long and is not. Called within `withPasswordCheck`. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  return (await ask({ password, hash })) === true;
}
