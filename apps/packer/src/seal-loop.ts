import { type Database, withLock } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { type LogStore, raiseRewound, type SignerSource, sealPending } from '@packhouse/pipeline';
import { type Context, repeat } from '@packhouse/runtime';

/** How often to look for bundles that wait for their entry, in milliseconds. */
const SEAL_EVERY_MS = 5_000;

/**
 * Appends the manifest entries of bundles that were published without one (by a repair without the key, or an older
 * program), and stores the logs where that was left undone, whether or not there is something to pack, until the context
 * is aborted. One packer at a time does. At the start and whenever another database answers, tells if the store has more
 * of a log than it.
 */
export function sealLoop(parts: {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  signers: SignerSource;
  logs: LogStore;
}): Promise<void> {
  const { context, database, logs } = parts;
  let compared: number | undefined;
  const sealAndStore = (): Promise<unknown> =>
    withLock(database, 'seal', context.signal, async (signal) => {
      for (const { network, kind } of await database.manifest.pending()) {
        await sealPending({ ...parts, network }, kind, signal);
      }
      for (const { network, kind } of await database.manifest.unstored()) await logs.store(network, kind);
    });
  const failed = 'manifest entries could not be signed or stored';
  return repeat(context, { everyMs: SEAL_EVERY_MS, failed }, async () => {
    // Almost always there is none, and that needs no lock.
    const [pending, unstored] = await Promise.all([
      database.manifest.pending(),
      database.manifest.unstored(),
    ]);
    if (pending.length + unstored.length > 0) await sealAndStore();
    const incarnation = database.incarnation();
    if (compared !== incarnation) await raiseRewound(parts);
    compared = incarnation;
  });
}
