import { openScope } from '@packhouse/runtime';
import type { createTryLock } from './try-lock.js';

/**
 * Runs `work` while this process has the lock `name`: its signal is aborted with `signal`, and when the lock is lost.
 * Returns undefined if another process has the lock.
 */
export async function withLock<T>(
  database: Pick<ReturnType<typeof createTryLock>, 'tryLock'>,
  name: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const lock = await database.tryLock(name);
  if (lock === null) return undefined;
  const scope = openScope(signal, lock.lost);
  try {
    return await work(scope.signal);
  } finally {
    scope.close();
    await lock.release();
  }
}
