import type { Database, Lock } from '@packhouse/database';
import { type Context, openScope, PackhouseError } from '@packhouse/runtime';

/** How long to wait for packers of the kind, and how often their lock is tried, in milliseconds. */
const WAIT_MS = 60_000;
const TRY_EVERY_MS = 250;

interface Parts {
  context: Context;
  database: Database;
}

/**
 * Runs `work` while no packer and no repair of a kind runs; its signal is aborted when a lock is lost. `kind`: after its
 * network, like the end of the locks' names. Throws PACKERS_BUSY if they run for longer than a minute.
 */
export async function withoutPackers<T>(
  parts: Parts,
  kind: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const locks = await takeBoth(parts, kind, signal);
  const scope = openScope(signal, ...locks.map(({ lost }) => lost));
  try {
    return await work(scope.signal);
  } finally {
    scope.close();
    await Promise.all(locks.map((lock) => lock.release()));
  }
}

async function takeBoth({ context, database }: Parts, kind: string, signal: AbortSignal): Promise<Lock[]> {
  const locks: Lock[] = [];
  const until = context.clock.elapsed() + WAIT_MS;
  try {
    for (const name of [`pack:${kind}`, `repair:${kind}`]) {
      let lock = await database.tryLock(name);
      while (lock === null) {
        if (context.clock.elapsed() > until) throw busy(kind);
        await context.clock.sleep(TRY_EVERY_MS, signal);
        lock = await database.tryLock(name);
      }
      locks.push(lock);
    }
    return locks;
  } catch (error) {
    await Promise.all(locks.map((lock) => lock.release()));
    throw error;
  }
}

function busy(name: string): PackhouseError {
  const [network, kind] = name.split(':');
  return new PackhouseError({
    code: 'PACKERS_BUSY',
    message: `Packers worked on ${network} ${kind} for ${WAIT_MS / 1_000} s, so nothing of it was changed.`,
    hint: 'Try again when less is being packed.',
    data: { network, kind },
  });
}
