import type { BlockRange } from '@packhouse/chain';

/**
 * Published ranges of one kind that touch a run of blocks, as pairs of 32-bit offsets from the run's first block:
 * 8 bytes a bundle, so that ten million bundles fit into 80 MB.
 */
export interface RangePage {
  readonly base: number;
  /** start, end, start, end, … ascending. 64-bit floats where a range reaches further than 2^31 blocks. */
  readonly offsets: Int32Array | Float64Array;
}

/** Packs ascending, disjoint ranges. */
export function packRanges(base: number, ranges: readonly BlockRange[]): RangePage {
  const wide = ranges.some((range) => base - range.start > 2 ** 31 || range.end - base >= 2 ** 31);
  const offsets = wide ? new Float64Array(ranges.length * 2) : new Int32Array(ranges.length * 2);
  let at = 0;
  for (const range of ranges) {
    offsets[at++] = range.start - base;
    offsets[at++] = range.end - base;
  }
  return { base, offsets };
}

/** The range that holds the block, by binary search. */
export function findRange(page: RangePage, number: number): BlockRange | undefined {
  const { base, offsets } = page;
  const wanted = number - base;
  let low = 0;
  let high = offsets.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const start = offsets[middle * 2] as number;
    const end = offsets[middle * 2 + 1] as number;
    if (wanted < start) high = middle - 1;
    else if (wanted > end) low = middle + 1;
    else return { start: base + start, end: base + end };
  }
  return undefined;
}

/** The page with one more range in its place; the same page where the range is already there. */
export function withRange(page: RangePage, range: BlockRange): RangePage {
  if (findRange(page, range.start) !== undefined) return page;
  const ranges: BlockRange[] = [];
  for (let at = 0; at < page.offsets.length; at += 2) {
    ranges.push({
      start: page.base + (page.offsets[at] as number),
      end: page.base + (page.offsets[at + 1] as number),
    });
  }
  ranges.push(range);
  return packRanges(
    page.base,
    ranges.sort((a, b) => a.start - b.start),
  );
}
