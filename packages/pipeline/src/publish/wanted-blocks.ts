import type { BlockRange, Kind } from '@packhouse/chain';
import type { Coverage, WantedRange } from '@packhouse/database';
import { rangesInclude, subtractRanges, unionRanges } from '../ranges.js';

/** What operators want of one kind; a follow range has no end (Infinity). Cancelled ranges do not count. */
export function intendedRanges(
  wanted: readonly WantedRange[],
  kind: Kind,
  states: readonly WantedRange['state'][],
): BlockRange[] {
  return unionRanges(
    wanted
      .filter((range) => states.includes(range.state) && range.kinds.includes(kind))
      .map((range) => ({ start: range.start, end: range.end ?? Number.POSITIVE_INFINITY })),
  );
}

/** A run of staged, final, unpublished blocks from which bundles may be cut. */
export interface PackableRun extends BlockRange {
  /** Nothing will ever join it on the right: its last bundle may be smaller than the rest. */
  closed: boolean;
  /** Something is still to come right before it: only a long run is packed without waiting for that. */
  waits: boolean;
}

/**
 * The runs that can be packed now.
 *
 * A run is packed from its left end at once when nothing that is still to come would join it there: the block
 * before is published, quarantined or not wanted. Others wait, so that bundles come out dense although windows are
 * staged out of order. Blocks of a paused range are still to come for the runs within it, which are packed once it
 * goes on; a range beside it does not wait for that.
 */
export function packableRuns(
  coverage: Pick<Coverage, 'staged' | 'published' | 'quarantined'>,
  intended: readonly BlockRange[],
  finalized: number,
  paused: readonly BlockRange[] = [],
): PackableRun[] {
  const settled = unionRanges([...coverage.published, ...coverage.quarantined]);
  const toCome = subtractRanges(intended, settled);
  const onceResumed = subtractRanges(paused, unionRanges([...settled, ...intended]));
  const comes = (number: number, beside: number): boolean =>
    rangesInclude(toCome, number) ||
    (rangesInclude(onceResumed, number) && rangesInclude(onceResumed, beside));
  const runs: PackableRun[] = [];
  for (const run of subtractRanges(coverage.staged, unionRanges(coverage.published))) {
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

/** The runs of one kind that can be packed now, of everything that operators want. */
export function packableNow(
  coverage: Pick<Coverage, 'staged' | 'published' | 'quarantined'>,
  wanted: readonly WantedRange[],
  kind: Kind,
  finalized: number,
): PackableRun[] {
  const active = intendedRanges(wanted, kind, ['active']);
  return packableRuns(coverage, active, finalized, intendedRanges(wanted, kind, ['paused']));
}
