import { PackhouseError } from '@packhouse/runtime';

/** Multiranges and DETACH CONCURRENTLY came with it. */
const OLDEST_MAJOR = 14;

/** Refuses a server that is too old. `version` is its setting server_version_num. Throws DATABASE_UNAVAILABLE. */
export function checkServer(version: number, address: string): void {
  const major = Math.floor(version / 10_000);
  if (major >= OLDEST_MAJOR) return;
  throw new PackhouseError({
    code: 'DATABASE_UNAVAILABLE',
    message: `Postgres at ${address} has version ${major}, expected ${OLDEST_MAJOR} or newer.`,
    hint: 'Set DATABASE_URL to a newer server.',
    data: { expected: OLDEST_MAJOR, got: major },
    retryable: false,
  });
}
