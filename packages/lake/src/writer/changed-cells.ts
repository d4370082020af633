import { type BlockRange, intersectRanges, KINDS, type Kind, subtractRanges } from '@packhouse/chain';
import type { LakeHeads, LakeTable, NetworkDatabase } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import { cellOf, type Grid } from './layout.js';
import type { LakeSource } from './ready-blocks.js';

/** Entries of the manifest that are read at a time. */
const PAGE = 10_000;

/** How often a table is compared with all that is published, in milliseconds. */
const COMPARE_EVERY_MS = 300_000;

/** Remembers which cells the new entries of these logs are about. */
export function createChangedCells(
  { manifest, coverage, lake }: Pick<NetworkDatabase, 'manifest' | 'coverage' | 'lake'>,
  { kind: table, needs }: Pick<LakeSource, 'kind' | 'needs'>,
  { grid, clock }: { grid: Grid; clock: Clock },
) {
  /** First blocks of cells. */
  const cells = new Set<number>();
  /** Entries up to these are in `cells`; null: nothing was read. */
  let seen: LakeHeads | null = null;
  let comparedAt = Number.NEGATIVE_INFINITY;

  /** Whether the log still has the entry: it was not set back, or begun again. */
  const hasEntry = async (
    kind: Kind,
    { sequence, hash }: { sequence: number; hash: string },
  ): Promise<boolean> => (await manifest.changed(kind, sequence - 1, 1))[0]?.hash === hash;

  /** Notes blocks that waited for a kind: no entry tells that it was quarantined, or is not requested any more. */
  const compare = async (snapshot: number): Promise<void> => {
    const view = { kind: table, snapshot, maxBlock: Number.MAX_SAFE_INTEGER };
    const [first, ...beside] = needs;
    const { published } = await coverage(first as Kind);
    addCells(cells, subtractRanges(published, await lake.ranges(view, Number.MAX_SAFE_INTEGER)), grid);
    for (const kind of beside) {
      const lacking = await lake.lacking(view, kind, Number.MAX_SAFE_INTEGER);
      if (lacking.length === 0) continue;
      addCells(cells, intersectRanges(lacking, (await coverage(kind)).published), grid);
    }
  };

  return {
    /** Those that are not written yet; the caller deletes what it wrote. */
    cells,
    /** Notes the cells of entries after those of the table, or after those that were noted. Returns the ends of the logs. */
    async look({ heads, snapshot }: Pick<LakeTable, 'heads' | 'snapshot'>): Promise<LakeHeads> {
      // Of other kinds than before: cells without a new entry have other rows too.
      const isOther = KINDS.some((kind) => (heads[kind] !== undefined) !== needs.includes(kind));
      const ends: LakeHeads = { ...(seen ?? (isOther ? {} : heads)) };
      for (const kind of needs) {
        const end = ends[kind];
        let after = end !== undefined && (await hasEntry(kind, end)) ? end.sequence : -1;
        for (;;) {
          const entries = await manifest.changed(kind, after, PAGE);
          addCells(cells, entries, grid);
          const last = entries.at(-1);
          if (last === undefined) break;
          after = last.sequence;
          ends[kind] = { sequence: last.sequence, hash: last.hash, signature: last.signature };
        }
      }
      if (clock.elapsed() - comparedAt >= COMPARE_EVERY_MS) {
        await compare(snapshot);
        comparedAt = clock.elapsed();
      }
      seen = ends;
      return ends;
    },
  };
}

function addCells(cells: Set<number>, ranges: readonly BlockRange[], grid: Grid): void {
  for (const { firstBlock, lastBlock } of ranges) {
    for (let at = firstBlock; at <= lastBlock; ) {
      const cell = cellOf(at, grid);
      cells.add(cell.firstBlock);
      at = cell.lastBlock + 1;
    }
  }
}
