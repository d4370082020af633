import type { Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, PackhouseError } from '@packhouse/runtime';

/** Younger objects are never deleted, in milliseconds. */
const SETTLED_MS = 3_600_000;
/** How long packers of the kind may keep this waiting, and how often they are asked, in milliseconds. */
const WAIT_MS = 60_000;
const ASK_EVERY_MS = 250;

/** An object that no index row named when it was looked for. */
export interface Orphan {
  network: string;
  kind: Kind;
  start: number;
  key: string;
}

/**
 * Deletes objects that no row names, while no packer and no repair of their kind is at work: both write the object
 * before its row. Looks again at each right before it goes; one that was written within the hour stays. Gives the
 * keys that are gone. Throws ORPHANS_BUSY where packers do not let go within a minute.
 */
export async function deleteOrphans(
  { context, database, objectStore }: { context: Context; database: Database; objectStore: ObjectStore },
  orphans: readonly Orphan[],
  signal: AbortSignal,
): Promise<string[]> {
  const deleted: string[] = [];
  const kinds = new Map<string, Orphan[]>();
  for (const orphan of orphans) {
    const lane = `${orphan.network}:${orphan.kind}`;
    kinds.set(lane, [...(kinds.get(lane) ?? []), orphan]);
  }
  for (const [lane, group] of kinds) {
    const locks = await takeBoth(context, database, lane, signal);
    try {
      for (const { network, kind, start, key } of group) {
        signal.throwIfAborted();
        for (const { lost } of locks) lost.throwIfAborted();
        const object = await objectStore.head(key, { signal });
        const written = object?.modifiedAt?.getTime();
        if (written === undefined || context.clock.now() - written < SETTLED_MS) continue;
        if ((await database.audit.knownKeys(network, kind, [start])).has(key)) continue;
        await objectStore.delete(key);
        deleted.push(key);
      }
    } finally {
      await Promise.all(locks.map((lock) => lock.release()));
    }
  }
  return deleted;
}

type Lock = NonNullable<Awaited<ReturnType<Database['tryLock']>>>;

async function takeBoth(
  context: Context,
  database: Database,
  lane: string,
  signal: AbortSignal,
): Promise<Lock[]> {
  const locks: Lock[] = [];
  const until = context.clock.now() + WAIT_MS;
  try {
    for (const name of [`pack:${lane}`, `repair:${lane}`]) {
      let lock = await database.tryLock(name);
      while (lock === null) {
        if (context.clock.now() > until) throw busy(lane);
        await context.clock.sleep(ASK_EVERY_MS, signal);
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

function busy(lane: string): PackhouseError {
  const [network, kind] = lane.split(':');
  return new PackhouseError({
    code: 'ORPHANS_BUSY',
    message: `Orphaned objects of ${network} ${kind} cannot be deleted now: packers were at work on it for ${WAIT_MS / 1_000} s.`,
    hint: 'Try again when less is being packed.',
    data: { network, kind },
  });
}
