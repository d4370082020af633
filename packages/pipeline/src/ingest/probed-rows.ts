import {
  type BlockRange,
  intersectRanges,
  type Kind,
  rangesInclude,
  subtractRanges,
  unionRanges,
} from '@packhouse/chain';
import type { NetworkDatabase, QuarantineRow } from '@packhouse/database';
import type { IngestWindow } from '../job-names.js';
import { isProbed } from './blame.js';
import { FORK_ALARM } from './fork-unknown.js';

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
    const left = row.kinds.flatMap((kind) => intersectRanges(missing.get(kind) ?? [], [toRange(row)]));
    const probe = getProbe(row, left);
    if (probe !== null) probes.set(row, probe);
  }
  for (const [kind, ranges] of missing) {
    const resting = rows
      .filter((row) => row.kinds.includes(kind) && (!row.due || probes.has(row)))
      .flatMap((row) => {
        const probe = probes.get(row);
        const tried = probe === undefined ? [] : [{ firstBlock: probe, lastBlock: probe }];
        return subtractRanges([toRange(row)], tried);
      });
    missing.set(kind, subtractRanges(ranges, unionRanges(resting)));
  }
  return [...probes].map(([row, probe]) => ({
    ...row,
    kinds: row.kinds.filter((kind) => rangesInclude(missing.get(kind) ?? [], probe)),
  }));
}

/**
 * The block of a row that is tried: by turns the first missing one and the last, as the version may know the fork of
 * either only. null if none is missing.
 */
export function getProbe({ attempts }: QuarantineRow, missing: readonly BlockRange[]): number | null {
  if (missing.length === 0) return null;
  return attempts % 2 === 1
    ? Math.min(...missing.map(({ firstBlock }) => firstBlock))
    : Math.max(...missing.map(({ lastBlock }) => lastBlock));
}

/** The row of the first block of a fork that this version does not know, or null. */
export async function unknownFork({ quarantine }: NetworkDatabase): Promise<QuarantineRow | null> {
  return (await quarantine.list({ cause: FORK_ALARM, limit: 1 }))[0] ?? null;
}

/** The probed row in which blocks failed by its cause, or undefined. */
export function toRow(
  probed: readonly QuarantineRow[],
  { firstBlock, lastBlock }: BlockRange,
  cause: string,
): QuarantineRow | undefined {
  return probed.find(
    (row) => row.firstBlock <= firstBlock && lastBlock <= row.lastBlock && row.cause === cause,
  );
}

/** The probed rows of which a window tried a block. */
export function rowsTried(
  probed: readonly QuarantineRow[],
  { firstBlock, lastBlock, kinds }: IngestWindow,
): QuarantineRow[] {
  return probed.filter(
    (row) =>
      row.firstBlock <= lastBlock &&
      row.lastBlock >= firstBlock &&
      row.kinds.some((kind) => kinds.includes(kind)),
  );
}

export function toRange({ firstBlock, lastBlock }: QuarantineRow): BlockRange {
  return { firstBlock, lastBlock };
}
