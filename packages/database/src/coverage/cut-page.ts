import type { BlockRange, Kind } from '@packhouse/chain';
import { kindCode } from '../connection/codes.js';
import type { Hole, HoleReason, HolesPage, KindHoles } from './holes.js';

/** A row of select-holes; without a reason it is published. */
export interface HoleRow extends BlockRange {
  kind: number;
  reason: HoleReason | null;
  staged: boolean;
  cause: string | null;
  attempts: number | null;
  nextTry: Date | null;
  /** -1: none was noted. */
  head: number;
  finalized: number;
  /** The last block that the rows speak of. */
  last: number;
}

/**
 * Makes a page of the rows of a window: it ends before the hole number limit + 1 of whichever kind has it first, and
 * what reaches beyond that is cut there, in every kind alike.
 */
export function cutPage(
  rows: readonly HoleRow[],
  { kinds, range, limit }: { kinds: readonly Kind[]; range: BlockRange; limit: number },
): HolesPage {
  const all = kinds.map((kind) => kindHoles(kind, rows));
  const [row] = rows;
  const beyond = all.map(({ holes }) => holes[limit]?.start).filter((start) => start !== undefined);
  const end = Math.min(row?.last ?? range.end, ...beyond.map((start) => start - 1));
  return {
    head: row === undefined || row.head < 0 ? null : row.head,
    finalized: row === undefined || row.head < 0 ? null : row.finalized,
    range: { start: range.start, end },
    next: end < range.end ? end + 1 : null,
    kinds: all.map(({ kind, published, holes }) => ({
      kind,
      published: within(published, end),
      holes: within(holes, end),
    })),
  };
}

function within<R extends BlockRange>(ranges: readonly R[], end: number): R[] {
  return ranges
    .filter((range) => range.start <= end)
    .map((range) => ({ ...range, end: Math.min(range.end, end) }));
}

function kindHoles(kind: Kind, rows: readonly HoleRow[]): KindHoles {
  const published: BlockRange[] = [];
  const holes: Hole[] = [];
  for (const row of rows) {
    if (row.kind !== kindCode(kind)) continue;
    if (row.reason === null) published.push({ start: row.start, end: row.end });
    else addHole(holes, holeOf(row, row.reason));
  }
  return { kind, published, holes };
}

function holeOf({ start, end, staged, cause, attempts, nextTry }: HoleRow, reason: HoleReason): Hole {
  const quarantine =
    cause === null || attempts === null || nextTry === null ? null : { cause, attempts, nextTry };
  return { start, end, reason, staged, quarantine };
}

/** Quarantined blocks that follow one another and failed alike are one hole. */
function addHole(holes: Hole[], hole: Hole): void {
  const last = holes.at(-1);
  const [a, b] = [last?.quarantine, hole.quarantine];
  if (last === undefined || !a || !b || last.end !== hole.start - 1 || a.cause !== b.cause) {
    holes.push(hole);
    return;
  }
  last.end = hole.end;
  a.attempts = Math.max(a.attempts, b.attempts);
  if (b.nextTry < a.nextTry) a.nextTry = b.nextTry;
}
