import type { NetworkDatabase } from '@packhouse/database';
import type { BlockSource } from '@packhouse/node-rpc';
import { NODE_CAUSES } from './blame.js';

/**
 * Makes quarantined blocks due that failed because no node answered, as soon as an upstream is healthy that was not; to
 * be called after each poll. Returns the number of such blocks.
 */
export function createUnansweredRetry({
  database: { quarantine },
  source,
}: {
  database: Pick<NetworkDatabase, 'quarantine'>;
  source: Pick<BlockSource, 'status'>;
}): () => Promise<number> {
  /** Upstreams that were not healthy; at first nothing is known of any. */
  const down = new Set(source.status().map(({ name }) => name));
  return async () => {
    let recovered = false;
    for (const { healthy, name } of source.status()) {
      if (!healthy) down.add(name);
      else if (down.delete(name)) recovered = true;
    }
    if (!recovered) return 0;
    return quarantine.retry({ firstBlock: 0, lastBlock: Number.MAX_SAFE_INTEGER }, NODE_CAUSES);
  };
}
