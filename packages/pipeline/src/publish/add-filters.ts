import { hash } from 'node:crypto';
import { hasFilter } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import type { Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import { type Context, isPackhouseError } from '@packhouse/runtime';
import { putFilterLater } from './put-filter.js';
import type { SignerSource } from './sign.js';

interface AddFiltersParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  signers?: SignerSource | undefined;
}

/** Files that are looked at together: a page takes milliseconds. */
const PAGE = 1_000;
/** After each bundle it rests for so many times as long as that took: packing has the core. */
const REST = 3;

/**
 * Makes the filters of bundles that were published without one, by an older program; each is kept as soon as it is made,
 * so it continues where it ended. A bundle whose object is missing or damaged is left to the audit. Returns how many
 * were made. Throws errors of store and database, and when aborted.
 */
export async function addFilters(
  parts: AddFiltersParts,
  { network, kind }: { network: string; kind: Kind },
  signal: AbortSignal,
): Promise<number> {
  if (!hasFilter(kind)) return 0;
  const { context, objectStore } = parts;
  const { bundleFilters, bundles } = parts.database.network(network);
  let made = 0;
  for (let from = 0; ; ) {
    const files = await bundleFilters.of(kind, { start: from, end: Number.MAX_SAFE_INTEGER }, PAGE);
    signal.throwIfAborted();
    for (const { start, sha256 } of files.filter(({ filter }) => filter === null)) {
      const row = await bundles.covering(kind, start);
      // Superseded meanwhile, with the filter of the new version.
      if (row?.sha256 !== sha256) continue;
      const startedAt = context.clock.elapsed();
      const bytes = await objectStore.read(row.objectKey, { signal }).catch((error: unknown) => {
        if (isPackhouseError(error, 'OBJECT_MISSING')) return Buffer.alloc(0);
        throw error;
      });
      if (hash('sha256', bytes, 'hex') === row.sha256) {
        if (await putFilterLater(parts, row, { bytes, expected: null }, signal)) made += 1;
      } else {
        context.logger.warn(
          { network, kind, start: row.start, key: row.objectKey },
          'no filter of a damaged bundle',
        );
      }
      await context.clock.sleep((context.clock.elapsed() - startedAt) * REST, signal);
    }
    const last = files.at(-1);
    if (last === undefined || files.length < PAGE) return made;
    from = last.end + 1;
  }
}
