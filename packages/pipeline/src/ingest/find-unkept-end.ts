import type { IngestWindow } from '../job-names.js';
import { isNotKept } from './blame.js';
import { tryFetch } from './extract.js';
import type { IngestParts } from './ingest-piece.js';

/**
 * Finds the last block that no upstream keeps, from a window on of which no block is kept.
 *
 * A pruned node lacks millions of blocks in a row, and asking for each of them would take days. So a few are asked for,
 * each twice as far away, then the border is searched between the last that is not kept and the first that is. Blocks
 * in between that a node does keep are fetched only at the next try. Only blocks that are wanted, final and neither
 * staged nor published are held.
 */
export async function findUnkeptEnd(
  parts: IngestParts,
  window: IngestWindow,
  signal: AbortSignal,
): Promise<number> {
  const isUnkept = async (number: number): Promise<boolean> => {
    const error = await tryFetch(parts, number, window.kinds, signal);
    return error !== null && isNotKept(error);
  };
  const limit = await openEnd(parts, window);
  let missing = window.end;
  let kept: number | null = null;
  for (let step = window.end - window.start + 1; kept === null && missing < limit; step *= 2) {
    const number = Math.min(limit, missing + step);
    if (await isUnkept(number)) missing = number;
    else kept = number;
  }
  while (kept !== null && kept - missing > 1) {
    const middle: number = missing + Math.floor((kept - missing) / 2);
    if (await isUnkept(middle)) missing = middle;
    else kept = middle;
  }
  return missing;
}

/** The last block after the window up to which everything is wanted and final, and missing in all of the kinds. */
export async function openEnd({ database }: IngestParts, { end, kinds }: IngestWindow): Promise<number> {
  const head = await database.head.get();
  const wanted = await database.wanted.runs();
  let limit = head?.finalized ?? end;
  for (const kind of kinds) {
    const around = wanted.active.get(kind)?.find((each) => each.start <= end && each.end >= end);
    limit = Math.min(limit, around?.end ?? end);
    if (limit <= end) return end;
    const { staged, published } = await database.coverage(kind, { start: end + 1, end: limit });
    for (const there of [staged[0], published[0]]) {
      if (there !== undefined) limit = Math.min(limit, there.start - 1);
    }
  }
  return Math.max(end, limit);
}
