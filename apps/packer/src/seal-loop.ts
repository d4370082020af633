import type { Database } from '@packhouse/database';
import { type SignerSource, sealPending } from '@packhouse/pipeline';
import { type Context, openScope } from '@packhouse/runtime';

interface SealLoopParts {
  context: Context;
  database: Database;
  signers: SignerSource;
}

/** How often to look for bundles that wait for their entry, in milliseconds. */
const SEAL_EVERY_MS = 5_000;

/**
 * Appends the manifest entries of bundles that were published without one (by a repair without the key, or an older
 * program), whether or not there is something to pack, until the context is aborted. One packer at a time does.
 */
export async function sealLoop(parts: SealLoopParts): Promise<void> {
  const { context, database } = parts;
  while (!context.signal.aborted) {
    try {
      // Almost always there is none, and that needs no lock.
      if ((await database.manifest.pending()).length > 0) await sealAll(parts);
    } catch (error) {
      if (!context.signal.aborted) {
        context.logger.warn({ err: error }, 'manifest entries could not be signed; it is tried again');
      }
    }
    await context.clock.sleep(SEAL_EVERY_MS, context.signal).catch(() => undefined);
  }
}

async function sealAll({ context, database, signers }: SealLoopParts): Promise<void> {
  const lock = await database.tryLock('seal');
  if (lock === null) return;
  const scope = openScope(context.signal, lock.lost);
  try {
    for (const { network, kind } of await database.manifest.pending()) {
      await sealPending({ context, database, signers, network }, kind, scope.signal);
    }
  } finally {
    scope.close();
    await lock.release();
  }
}
