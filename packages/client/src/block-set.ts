import type { BlockRange } from '@packhouse/chain';

/** Adds a range to ranges that are ascending and do not touch; returns such ranges. */
export function withRange(ranges: readonly BlockRange[], added: BlockRange): BlockRange[] {
  const merged: BlockRange[] = [];
  let { start, end } = added;
  for (const range of ranges) {
    if (range.end < start - 1 || range.start > end + 1) {
      merged.push(range);
    } else {
      start = Math.min(start, range.start);
      end = Math.max(end, range.end);
    }
  }
  return [...merged, { start, end }].sort((a, b) => a.start - b.start);
}

/** What of a range is in none of the ranges, which are ascending. */
export function withoutRanges({ start, end }: BlockRange, ranges: readonly BlockRange[]): BlockRange[] {
  const left: BlockRange[] = [];
  let next = start;
  for (const range of ranges) {
    if (range.end < next) continue;
    if (range.start > end) break;
    if (range.start > next) left.push({ start: next, end: range.start - 1 });
    next = range.end + 1;
  }
  if (next <= end) left.push({ start: next, end });
  return left;
}
