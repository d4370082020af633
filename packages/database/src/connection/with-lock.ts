import { openScope } from '@packhouse/runtime';
import type { createLeases, Fence } from './leases.js';

/**
 * Runs `work` while this process has the lock `name`: its signal is aborted with `signal`, and when the lock is lost.
 * The fence is for writes that a process which lost the lock unnoticed must not do. Returns undefined if another
 * process has the lock.
 */
export async function withLock<T>(
  database: Pick<ReturnType<typeof createLeases>, 'tryLock'>,
  name: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal, fence: Fence) => Promise<T>,
): Promise<T | undefined> {
  const lock = await database.tryLock(name);
  if (lock === null) return undefined;
  const scope = openScope(signal, lock.lost);
  try {
    return await work(scope.signal, lock.fence);
  } finally {
    scope.close();
    await lock.release();
  }
}
