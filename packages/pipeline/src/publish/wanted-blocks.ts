import type { BlockRange, Kind } from '@packhouse/chain';
import type { Coverage, WantedRuns } from '@packhouse/database';
import { rangesInclude, subtractRanges } from '../ranges.js';

/** A run of staged, final, unpublished blocks from which bundles may be cut. */
export interface PackableRun extends BlockRange {
  /** No block after it is still to come: its last bundle may be smaller than the others. */
  closed: boolean;
  /** The block before it is still to come: only a long run is packed without waiting for that. */
  waits: boolean;
}

/**
 * The runs of one kind that can be packed now.
 *
 * A run is packed from its left end at once if no block before it is still to come: that block is published,
 * quarantined or not wanted. Other runs wait, so that bundles come out dense although windows are staged out of order.
 * Blocks of a paused range are still to come for the runs within it, which are packed when it is resumed; a range
 * beside it does not wait for that.
 */
export function packableRuns(
  { staged, published, quarantined }: Pick<Coverage, 'staged' | 'published' | 'quarantined'>,
  wanted: WantedRuns,
  kind: Kind,
  finalized: number,
): PackableRun[] {
  const active = wanted.active.get(kind) ?? [];
  const paused = wanted.paused.get(kind) ?? [];
  // Asked of single blocks: what is wanted and what is published may be very many ranges.
  const settled = (number: number): boolean =>
    rangesInclude(published, number) || rangesInclude(quarantined, number);
  const toCome = (number: number): boolean => rangesInclude(active, number) && !settled(number);
  const onceResumed = (number: number): boolean =>
    rangesInclude(paused, number) && !settled(number) && !rangesInclude(active, number);
  const comes = (number: number, beside: number): boolean =>
    toCome(number) || (onceResumed(number) && onceResumed(beside));
  const runs: PackableRun[] = [];
  for (const run of subtractRanges(staged, published)) {
    const end = Math.min(run.end, finalized);
    if (end < run.start) continue;
    runs.push({
      start: run.start,
      end,
      closed: end === run.end && !comes(run.end + 1, run.end),
      waits: comes(run.start - 1, run.start),
    });
  }
  return runs;
}
