import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import { rangesInclude } from '../ranges.js';

/** A range, and kinds that are all missing from its first block to its last. */
export interface Piece {
  range: BlockRange;
  kinds: readonly Kind[];
}

/**
 * Cuts what is missing of several kinds into ranges within which every kind named is missing from end to end.
 *
 * A fragment that reaches over a block which is already there cannot be staged, so what is fetched together must
 * have the same borders in all its kinds.
 */
export function missingPieces(missing: ReadonlyMap<Kind, readonly BlockRange[]>): Piece[] {
  const holes = [...missing.values()].flat();
  const borders = [...new Set(holes.flatMap(({ start, end }) => [start, end + 1]))].sort((a, b) => a - b);
  return borders.slice(0, -1).flatMap((start, i) => {
    const kinds = KINDS.filter((kind) => rangesInclude(missing.get(kind) ?? [], start));
    return kinds.length === 0 ? [] : [{ range: { start, end: (borders[i + 1] as number) - 1 }, kinds }];
  });
}
