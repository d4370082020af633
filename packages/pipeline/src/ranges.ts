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

/**
 * The first blocks of a range that are in none of the lists, each ascending and disjoint, up to the next that is; null:
 * there are none. The cost is that of a few look-ups, however long the lists are.
 */
export function nextOutside(
  lists: readonly (readonly BlockRange[])[],
  { start, end }: BlockRange,
): BlockRange | null {
  let at = start;
  for (let moved = true; moved && at <= end; ) {
    moved = false;
    for (const list of lists) {
      const range = list[firstEndingAt(list, at)];
      if (range === undefined || range.start > at) continue;
      at = range.end + 1;
      moved = true;
    }
  }
  if (at > end) return null;
  const borders = lists.map((list) => list[firstEndingAt(list, at)]?.start ?? Number.POSITIVE_INFINITY);
  return { start: at, end: Math.min(end, ...borders.map((border) => border - 1)) };
}

/** Where the blocks around `block`, which is in none of the lists, begin that are in none; `first` at the lowest. */
export function startOutside(
  lists: readonly (readonly BlockRange[])[],
  block: number,
  first: number,
): number {
  return Math.max(first, ...lists.map((list) => (list[firstEndingAt(list, block) - 1]?.end ?? -1) + 1));
}

/** The parts of a range that are in none of the lists, each ascending and disjoint. */
export function subtractAll(
  { start, end }: BlockRange,
  lists: readonly (readonly BlockRange[])[],
): BlockRange[] {
  const left: BlockRange[] = [];
  for (let at = start; ; ) {
    const part = nextOutside(lists, { start: at, end });
    if (part === null) return left;
    left.push(part);
    at = part.end + 1;
  }
}

/** Adds a range to ranges, ascending and disjoint; those that it touches become one with it. */
export function addRange(ranges: BlockRange[], { start, end }: BlockRange): void {
  const from = firstEndingAt(ranges, start - 1);
  let to = from;
  while (to < ranges.length && (ranges[to] as BlockRange).start <= end + 1) to++;
  const [first, last] = [ranges[from], ranges[to - 1]];
  const merged =
    first === undefined || last === undefined || to === from
      ? { start, end }
      : { start: Math.min(start, first.start), end: Math.max(end, last.end) };
  ranges.splice(from, to - from, merged);
}

/** The index of the first range that ends at `number` or after it. */
export function firstEndingAt(ranges: readonly BlockRange[], number: number): number {
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
