import { type Database, withLock } from '@packhouse/database';
import { type SignerSource, sealPending } from '@packhouse/pipeline';
import { type Context, repeat } from '@packhouse/runtime';

/** How often to look for bundles that wait for their entry, in milliseconds. */
const SEAL_EVERY_MS = 5_000;

/**
 * Appends the manifest entries of bundles that were published without one (by a repair without the key, or an older
 * program), whether or not there is something to pack, until the context is aborted. One packer at a time does.
 */
export function sealLoop(parts: {
  context: Context;
  database: Database;
  signers: SignerSource;
}): Promise<void> {
  const { context, database } = parts;
  const failed = 'manifest entries could not be signed';
  return repeat(context, { everyMs: SEAL_EVERY_MS, failed }, async () => {
    // Almost always there is none, and that needs no lock.
    if ((await database.manifest.pending()).length === 0) return;
    await withLock(database, 'seal', context.signal, async (signal) => {
      for (const { network, kind } of await database.manifest.pending()) {
        await sealPending({ ...parts, network }, kind, signal);
      }
    });
  });
}
