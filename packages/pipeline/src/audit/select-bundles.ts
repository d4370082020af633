import { createHash } from 'node:crypto';
import type { BlockRange, Kind } from '@packhouse/chain';
import type { BundleRow, Database } from '@packhouse/database';
import { isPackhouseError } from '@packhouse/runtime';
import { intersectRanges, unionRanges } from '../ranges.js';

/** Ranges of bundles are listed for this many blocks at a time, so that no index is ever held whole. */
const WINDOW_BLOCKS = 65_536;

/** Whether a bundle belongs to a sample: the same bundles for the same seed, whatever else is there. */
export function inSample(options: {
  seed: string;
  share: number;
  network: string;
  kind: Kind;
  start: number;
}): boolean {
  const { seed, share, network, kind, start } = options;
  if (share >= 1) return true;
  const digest = createHash('sha256').update(`${seed}\n${network}\n${kind}\n${start}`).digest();
  return digest.readUIntBE(0, 6) / 2 ** 48 < share;
}

/** The ranges of all bundles of a kind that touch a range, ascending, a window at a time. */
export async function* bundleRanges(
  database: Database,
  { network, kind, range }: { network: string; kind: Kind; range: BlockRange },
): AsyncGenerator<BlockRange, void, undefined> {
  const { published } = await database.coverage(network, kind, range);
  let seen = -1;
  for (const span of intersectRanges(unionRanges(published), [range])) {
    for (let start = span.start; start <= span.end; start += WINDOW_BLOCKS) {
      const window = { start, end: Math.min(span.end, start + WINDOW_BLOCKS - 1) };
      for (const bundle of await database.bundles.ranges(network, kind, window)) {
        // One that reaches into the next window is in both.
        if (bundle.start <= seen) continue;
        seen = bundle.start;
        yield bundle;
      }
    }
  }
}

/**
 * The index rows of the chosen bundles of a kind that touch a range, ascending. A row that cannot be read is told to
 * `onBadRow` and left out.
 */
export async function* selectBundles(
  database: Database,
  request: {
    network: string;
    kind: Kind;
    range: BlockRange;
    chosen(bundle: BlockRange): boolean;
    onBadRow(bundle: BlockRange, error: Error): void;
  },
): AsyncGenerator<BundleRow, void, undefined> {
  const { network, kind } = request;
  for await (const bundle of bundleRanges(database, request)) {
    if (!request.chosen(bundle)) continue;
    try {
      const row = await database.bundles.covering(network, kind, bundle.start);
      if (row !== null) yield row;
    } catch (error) {
      if (!isPackhouseError(error, 'BUNDLE_INVALID')) throw error;
      request.onBadRow(bundle, error);
    }
  }
}
