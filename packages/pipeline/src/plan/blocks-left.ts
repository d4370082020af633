import type { Kind } from '@packhouse/chain';
import type { OpenBackfill } from '@packhouse/database';
import { toFetchRequest } from '../ingest/extract.js';
import type { IngestWindow } from '../job-names.js';

/** Requests that a block of these kinds takes at least: the block, its receipts, its traces. */
export function requestsPerBlock(kinds: readonly Kind[]): number {
  const { receipts, traces } = toFetchRequest(kinds);
  return 1 + Number(receipts) + Number(traces);
}

/**
 * How many more blocks may be planned of backfills with a limit of requests, by id. `left`: requests that each may still
 * send; what is planned already is kept for it.
 */
export function getBlocksLeft(
  open: readonly OpenBackfill[],
  left: ReadonlyMap<number, number>,
  pending: readonly IngestWindow[],
): Map<number, number> {
  const blocks = new Map<number, number>();
  for (const { from, id, kinds, to } of open) {
    const requests = left.get(id);
    if (requests === undefined) continue;
    const kept = pending.reduce((sum, { firstBlock, lastBlock }) => {
      const end = Math.min(lastBlock, to ?? Number.POSITIVE_INFINITY);
      return sum + Math.max(0, end - Math.max(firstBlock, from) + 1);
    }, 0);
    blocks.set(id, Math.floor(requests / requestsPerBlock(kinds)) - kept);
  }
  return blocks;
}
