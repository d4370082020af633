import type { Database } from '@packhouse/database';
import { type Context, repeat } from '@packhouse/runtime';

/** How often the versions of all networks are read, in one statement, in milliseconds. */
const READ_EVERY_MS = 1_000;

/** Calls `wake` with each network of which something else is requested than before, until the context is aborted. */
export function watchRequests(
  context: Context,
  { backfills }: Pick<Database, 'backfills'>,
  wake: (network: string) => void,
): Promise<void> {
  let known: ReadonlyMap<string, string> | null = null;
  const failed = 'reading what is requested failed';
  return repeat(context, { everyMs: READ_EVERY_MS, failed }, async () => {
    const versions = await backfills.versions();
    for (const [network, version] of versions) {
      if (known !== null && known.get(network) !== version) wake(network);
    }
    known = versions;
  });
}
