import type { Database } from '@packhouse/database';
import type { Network } from '@packhouse/networks';
import type { ObjectStore } from '@packhouse/object-store';
import { addFilters, type SignerSource } from '@packhouse/pipeline';
import { type Context, openScope } from '@packhouse/runtime';

interface FilterLoopParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  /** Those in force now. */
  networks(): readonly Network[];
  signers: SignerSource;
}

/** How often to look for bundles without a filter, in milliseconds: only an older packer publishes such. */
const LOOK_EVERY_MS = 3_600_000;
/** After an error, and while another packer does it. */
const RETRY_MS = 60_000;

/** Makes the filters of bundles that have none, one packer at a time, until the context is aborted. */
export async function filterLoop(parts: FilterLoopParts): Promise<void> {
  const { context } = parts;
  while (!context.signal.aborted) {
    let pause = RETRY_MS;
    try {
      if (await addAll(parts)) pause = LOOK_EVERY_MS;
    } catch (error) {
      if (!context.signal.aborted) {
        context.logger.warn(
          { err: error },
          'filters of earlier bundles could not be made; it is tried again',
        );
      }
    }
    await context.clock.sleep(pause, context.signal).catch(() => undefined);
  }
}

/** False if another packer is at it. */
async function addAll(parts: FilterLoopParts): Promise<boolean> {
  const { context, database, networks } = parts;
  const lock = await database.tryLock('filters');
  if (lock === null) return false;
  const scope = openScope(context.signal, lock.lost);
  try {
    for (const { id: network, bundles } of networks()) {
      for (const kind of bundles.enabled ? bundles.kinds : []) {
        const filters = await addFilters(parts, { network, kind }, scope.signal);
        if (filters > 0) context.logger.info({ network, kind, filters }, 'filters of earlier bundles made');
      }
    }
    return true;
  } finally {
    scope.close();
    await lock.release();
  }
}
