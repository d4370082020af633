import type { BlockRange, Kind } from '@packhouse/chain';
import type { NetworkDatabase, QuarantineRow } from '@packhouse/database';
import type { ErrorCode } from '@packhouse/runtime';
import type { IngestWindow } from '../job-names.js';
import { intersectRanges, subtractRanges, unionRanges } from '../ranges.js';
import { isProbed } from './blame.js';

/**
 * Takes from the missing blocks those in quarantine until their next try, and of each due row that is probed all but
 * one. Returns these rows, each with the kinds that are tried of it.
 */
export function withoutResting(
  missing: Map<Kind, BlockRange[]>,
  rows: readonly QuarantineRow[],
): QuarantineRow[] {
  const probes = new Map<QuarantineRow, number>();
  for (const row of rows.filter(({ due, cause }) => due && isProbed(cause))) {
    const left = row.kinds.flatMap((kind) => intersectRanges(missing.get(kind) ?? [], [rangeOf(row)]));
    const probe = probeOf(row, left);
    if (probe !== null) probes.set(row, probe);
  }
  for (const [kind, ranges] of missing) {
    const resting = rows
      .filter((row) => row.kinds.includes(kind) && (!row.due || probes.has(row)))
      .flatMap((row) => {
        const probe = probes.get(row);
        const range = rangeOf(row);
        return probe === undefined ? [range] : subtractRanges([range], [{ start: probe, end: probe }]);
      });
    missing.set(kind, subtractRanges(ranges, unionRanges(resting)));
  }
  return [...probes].map(([row, probe]) => ({
    ...row,
    kinds: row.kinds.filter((kind) =>
      (missing.get(kind) ?? []).some(({ start, end }) => start <= probe && probe <= end),
    ),
  }));
}

/**
 * The block of a row that is tried: by turns the first missing one and the last, as the version may know the fork of
 * either only. null if none is missing.
 */
export function probeOf({ attempts }: QuarantineRow, missing: readonly BlockRange[]): number | null {
  if (missing.length === 0) return null;
  return attempts % 2 === 1
    ? Math.min(...missing.map(({ start }) => start))
    : Math.max(...missing.map(({ end }) => end));
}

/** The row of the first block of a fork that this version does not know, or null. */
export async function unknownFork({
  quarantine,
}: Pick<NetworkDatabase, 'quarantine'>): Promise<QuarantineRow | null> {
  const cause: ErrorCode = 'FORK_UNKNOWN';
  return (await quarantine.list({ cause, limit: 1 }))[0] ?? null;
}

/** The probed row in which blocks failed by its cause, or undefined. */
export function rowOf(
  probed: readonly QuarantineRow[],
  { start, end }: BlockRange,
  cause: string,
): QuarantineRow | undefined {
  return probed.find((row) => row.number <= start && end <= row.end && row.cause === cause);
}

/** The probed rows of which a window tried a block. */
export function rowsTried(
  probed: readonly QuarantineRow[],
  { start, end, kinds }: IngestWindow,
): QuarantineRow[] {
  return probed.filter(
    (row) => row.number <= end && row.end >= start && row.kinds.some((kind) => kinds.includes(kind)),
  );
}

export function rangeOf({ number, end }: QuarantineRow): BlockRange {
  return { start: number, end };
}
