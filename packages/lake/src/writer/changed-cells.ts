import { KINDS, type Kind } from '@packhouse/chain';
import type { LakeHeads, NetworkDatabase } from '@packhouse/database';
import { cellOf, type Grid } from './layout.js';

/** Entries of the manifest that are read at a time. */
const PAGE = 10_000;

/** Remembers which cells the new entries of these logs are about. */
export function createChangedCells(
  { manifest }: Pick<NetworkDatabase, 'manifest'>,
  needs: readonly Kind[],
  grid: Grid,
) {
  /** First blocks of cells. */
  const cells = new Set<number>();
  /** Entries up to these are in `cells`; null: nothing was read. */
  let seen: LakeHeads | null = null;

  /** Whether the log still has the entry: it was not set back, or begun again. */
  const hasEntry = async (
    kind: Kind,
    { sequence, hash }: { sequence: number; hash: string },
  ): Promise<boolean> => (await manifest.changed(kind, sequence - 1, 1))[0]?.hash === hash;

  return {
    /** Those that are not written yet; the caller deletes what it wrote. */
    cells,
    /** Notes the cells of entries after these, or after those that were noted. Returns the ends of the logs. */
    async look(heads: LakeHeads): Promise<LakeHeads> {
      // Of other kinds than before: cells without a new entry have other rows too.
      const isOther = KINDS.some((kind) => (heads[kind] !== undefined) !== needs.includes(kind));
      const ends: LakeHeads = { ...(seen ?? (isOther ? {} : heads)) };
      for (const kind of needs) {
        const end = ends[kind];
        let after = end !== undefined && (await hasEntry(kind, end)) ? end.sequence : -1;
        for (;;) {
          const entries = await manifest.changed(kind, after, PAGE);
          for (const { firstBlock, lastBlock } of entries) {
            let at = firstBlock;
            while (at <= lastBlock) {
              const cell = cellOf(at, grid);
              cells.add(cell.firstBlock);
              at = cell.lastBlock + 1;
            }
          }
          const last = entries.at(-1);
          if (last === undefined) break;
          after = last.sequence;
          ends[kind] = { sequence: last.sequence, hash: last.hash, signature: last.signature };
        }
      }
      seen = ends;
      return ends;
    },
  };
}
