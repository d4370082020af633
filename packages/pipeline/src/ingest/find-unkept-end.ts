import type { BlockRange, Kind } from '@packhouse/chain';
import { intendedRanges } from '../publish/wanted-blocks.js';
import { isNotKept } from './blame.js';
import { dropTraces } from './drop-traces.js';
import { fetchWish } from './extract.js';
import type { IngestParts } from './ingest-piece.js';

/**
 * How far a part of the chain reaches that no upstream keeps, from a range on of which none could be had.
 *
 * A pruned node lacks millions of blocks in a row, and asking for each of them would take days: a few are asked for,
 * twice as far away each time, and the border is then looked for between the last that is not kept and the first that
 * is. Blocks in between that a node does keep after all are only had later, at the next try. Nothing beyond what is
 * wanted, final and neither staged nor published is held.
 */
export async function findUnkeptEnd(
  parts: IngestParts,
  range: BlockRange & { kinds: readonly Kind[] },
  signal: AbortSignal,
): Promise<number> {
  const limit = await openEnd(parts, range);
  let missing = range.end;
  let kept: number | null = null;
  for (let step = range.end - range.start + 1; kept === null && missing < limit; step *= 2) {
    const number = Math.min(limit, missing + step);
    if (await isUnkept(parts, number, range.kinds, signal)) missing = number;
    else kept = number;
  }
  while (kept !== null && kept - missing > 1) {
    const middle: number = missing + Math.floor((kept - missing) / 2);
    if (await isUnkept(parts, middle, range.kinds, signal)) missing = middle;
    else kept = middle;
  }
  return missing;
}

/** The last block behind the range up to which everything is wanted, final and not there in any of the kinds. */
async function openEnd(
  { database, network }: IngestParts,
  { end, kinds }: BlockRange & { kinds: readonly Kind[] },
): Promise<number> {
  const head = await database.head.get(network);
  const wanted = await database.wanted.list(network);
  let limit = head?.finalized ?? end;
  for (const kind of kinds) {
    const around = intendedRanges(wanted, kind, ['active']).find(
      (each) => each.start <= end && each.end >= end,
    );
    limit = Math.min(limit, around?.end ?? end);
    if (limit <= end) return end;
    const { staged, published } = await database.coverage(network, kind, { start: end + 1, end: limit });
    for (const there of [staged[0], published[0]]) {
      if (there !== undefined) limit = Math.min(limit, there.start - 1);
    }
  }
  return Math.max(end, limit);
}

async function isUnkept(
  { source }: IngestParts,
  number: number,
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    dropTraces(await source.fetchBlock(number, fetchWish(kinds), { signal }));
    return false;
  } catch (error) {
    signal.throwIfAborted();
    return isNotKept(error as Error);
  }
}
