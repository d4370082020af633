import type { BlockRange } from '@packhouse/chain';

/** Sorts and merges inclusive ranges; ranges that touch become one. */
export function unionRanges(ranges: readonly BlockRange[]): BlockRange[] {
  const merged: BlockRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && range.start <= last.end + 1) last.end = Math.max(last.end, range.end);
    else merged.push({ ...range });
  }
  return merged;
}

/** The parts of `from` that are not in `without`; both ascending and disjoint, as `unionRanges` returns them. */
export function subtractRanges(from: readonly BlockRange[], without: readonly BlockRange[]): BlockRange[] {
  const left: BlockRange[] = [];
  let i = 0;
  for (const range of from) {
    let start = range.start;
    while (i < without.length && (without[i] as BlockRange).end < start) i++;
    for (let k = i; k < without.length && (without[k] as BlockRange).start <= range.end; k++) {
      const hole = without[k] as BlockRange;
      if (hole.start > start) left.push({ start, end: hole.start - 1 });
      start = Math.max(start, hole.end + 1);
    }
    if (start <= range.end) left.push({ start, end: range.end });
  }
  return left;
}

/** The parts that are in both; both ascending and disjoint. */
export function intersectRanges(a: readonly BlockRange[], b: readonly BlockRange[]): BlockRange[] {
  const both: BlockRange[] = [];
  let i = 0;
  let k = 0;
  while (i < a.length && k < b.length) {
    const left = a[i] as BlockRange;
    const right = b[k] as BlockRange;
    const start = Math.max(left.start, right.start);
    const end = Math.min(left.end, right.end);
    if (start <= end) both.push({ start, end });
    if (left.end < right.end) i++;
    else k++;
  }
  return both;
}

/** Whether `number` is in one of the ranges, ascending and disjoint. */
export function rangesInclude(ranges: readonly BlockRange[], number: number): boolean {
  const range = ranges[firstEndingAt(ranges, number)];
  return range !== undefined && range.start <= number;
}

/** Whether one of the ranges, ascending and disjoint, has a block of this one. */
export function rangesTouch(ranges: readonly BlockRange[], { start, end }: BlockRange): boolean {
  const range = ranges[firstEndingAt(ranges, start)];
  return range !== undefined && range.start <= end;
}

/** Takes what is within a range out of the ranges, ascending and disjoint, and returns it. */
export function takeRange(ranges: BlockRange[], { start, end }: BlockRange): BlockRange[] {
  const from = firstEndingAt(ranges, start);
  const taken: BlockRange[] = [];
  const left: BlockRange[] = [];
  for (let at = from; at < ranges.length; at++) {
    const range = ranges[at] as BlockRange;
    if (range.start > end) break;
    taken.push({ start: Math.max(range.start, start), end: Math.min(range.end, end) });
    if (range.start < start) left.push({ start: range.start, end: start - 1 });
    if (range.end > end) left.push({ start: end + 1, end: range.end });
  }
  if (taken.length > 0) ranges.splice(from, taken.length, ...left);
  return taken;
}

/** The index of the first range that ends at `number` or after it. */
function firstEndingAt(ranges: readonly BlockRange[], number: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as BlockRange).end < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many blocks the ranges hold. */
export function countBlocks(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, range) => sum + range.end - range.start + 1, 0);
}
