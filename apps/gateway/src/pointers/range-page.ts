import type { BlockRange } from '@packhouse/chain';

/**
 * Published ranges of one kind that touch a run of blocks, as pairs of 32-bit offsets from the run's first block:
 * 8 bytes a bundle, so that ten million bundles fit into 80 MB.
 *
 * With thousands of pages, finding a range is bound by memory latency. So the fields of a look-up are together here,
 * and the offsets are read almost only at the range itself.
 */
export interface RangePage {
  /** Time of the last look-up, in the owner's count. */
  usedAt: number;
  readonly base: number;
  readonly count: number;
  /** Offset of the first range's start. */
  readonly first: number;
  /** Ranges per block, on average. */
  readonly density: number;
  /** start, end, start, end, … ascending. 64-bit floats if a range reaches further than 2^31 blocks. */
  readonly offsets: Int32Array | Float64Array;
  /** By range: its place in `reasons`, 0 for none; absent if all of the page is proved. */
  readonly gaps?: Uint8Array;
  /** Values of the header. */
  readonly reasons?: readonly string[];
}

/** A published range; `notProved` is the header's value if not all of it is proved. */
export interface PublishedRange extends BlockRange {
  notProved?: string;
  /** Of a block that is not published yet, and can still be replaced by another one. */
  hash?: string;
}

/** Packs ascending, disjoint ranges. */
export function packRanges(base: number, ranges: readonly PublishedRange[]): RangePage {
  const wide = ranges.some((range) => base - range.firstBlock > 2 ** 31 || range.lastBlock - base >= 2 ** 31);
  const count = ranges.length;
  const offsets = wide ? new Float64Array(count * 2) : new Int32Array(count * 2);
  let at = 0;
  for (const range of ranges) {
    offsets[at++] = range.firstBlock - base;
    offsets[at++] = range.lastBlock - base;
  }
  const first = offsets[0] ?? 0;
  const blocks = (offsets[at - 1] ?? 0) - first + 1;
  const page = { usedAt: 0, base, count, first, density: count / blocks, offsets };
  if (ranges.every(({ notProved }) => notProved === undefined)) return page;
  const reasons = ['', ...new Set(ranges.flatMap(({ notProved }) => notProved ?? []))].slice(0, 256);
  return {
    ...page,
    reasons,
    // A page has a few reasons; beyond 255 the last one replaces the others.
    gaps: Uint8Array.from(ranges, ({ notProved }) =>
      notProved === undefined ? 0 : Math.max(reasons.indexOf(notProved), 1),
    ),
  };
}

/**
 * The range that holds the block. The first guess assumes ranges of equal length and is mostly right or next to it;
 * a binary search alone would wait for memory at each of its dozen steps.
 */
export function findRange(page: RangePage, number: number): PublishedRange | undefined {
  const { base, count, first, offsets } = page;
  const offset = number - base;
  let low = 0;
  let high = count - 1;
  let middle = Math.max(0, Math.min(high, Math.floor((offset - first) * page.density)));
  for (let step = 2; low <= high; step *= 2) {
    const start = offsets[middle * 2] as number;
    const end = offsets[middle * 2 + 1] as number;
    if (offset >= start && offset <= end) return rangeAt(page, middle);
    // Away from the guess in growing steps, until halving the rest is shorter.
    if (offset < start) {
      high = middle - 1;
      middle = Math.max(middle - step, (low + high) >>> 1);
    } else {
      low = middle + 1;
      middle = Math.min(middle + step, (low + high) >>> 1);
    }
  }
  return undefined;
}

function rangeAt({ base, offsets, gaps, reasons }: RangePage, at: number): PublishedRange {
  const range = {
    firstBlock: base + (offsets[at * 2] as number),
    lastBlock: base + (offsets[at * 2 + 1] as number),
  };
  const notProved = reasons?.[gaps?.[at] ?? 0] ?? '';
  return notProved === '' ? range : { ...range, notProved };
}

/** Returns the page with one more range; the same page if the range is already there. */
export function withRange(page: RangePage, range: PublishedRange): RangePage {
  if (findRange(page, range.firstBlock) !== undefined) return page;
  const ranges = Array.from({ length: page.count }, (_, at) => rangeAt(page, at));
  ranges.push(range);
  return packRanges(
    page.base,
    ranges.sort((a, b) => a.firstBlock - b.firstBlock),
  );
}
