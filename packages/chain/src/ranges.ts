import type { BlockRange } from './record/kinds.js';

/** Sorts and merges inclusive ranges; ranges that touch become one. */
export function unionRanges(ranges: readonly BlockRange[]): BlockRange[] {
  const merged: BlockRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.firstBlock - b.firstBlock)) {
    const last = merged.at(-1);
    if (last !== undefined && range.firstBlock <= last.lastBlock + 1)
      last.lastBlock = Math.max(last.lastBlock, range.lastBlock);
    else merged.push({ ...range });
  }
  return merged;
}

/** The parts of `from` that are not in `without`; both ascending and disjoint, as `unionRanges` returns them. */
export function subtractRanges(from: readonly BlockRange[], without: readonly BlockRange[]): BlockRange[] {
  const left: BlockRange[] = [];
  let i = 0;
  for (const range of from) {
    let firstBlock = range.firstBlock;
    while (i < without.length && (without[i] as BlockRange).lastBlock < firstBlock) i++;
    for (let k = i; k < without.length && (without[k] as BlockRange).firstBlock <= range.lastBlock; k++) {
      const hole = without[k] as BlockRange;
      if (hole.firstBlock > firstBlock) left.push({ firstBlock, lastBlock: hole.firstBlock - 1 });
      firstBlock = Math.max(firstBlock, hole.lastBlock + 1);
    }
    if (firstBlock <= range.lastBlock) left.push({ firstBlock, lastBlock: range.lastBlock });
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
    const firstBlock = Math.max(left.firstBlock, right.firstBlock);
    const lastBlock = Math.min(left.lastBlock, right.lastBlock);
    if (firstBlock <= lastBlock) both.push({ firstBlock, lastBlock });
    if (left.lastBlock < right.lastBlock) i++;
    else k++;
  }
  return both;
}

/** Whether `number` is in one of the ranges, ascending and disjoint. */
export function rangesInclude(ranges: readonly BlockRange[], number: number): boolean {
  const range = ranges[firstEndingAt(ranges, number)];
  return range !== undefined && range.firstBlock <= number;
}

/** Whether one of the ranges, ascending and disjoint, has a block of this one. */
export function rangesTouch(ranges: readonly BlockRange[], { firstBlock, lastBlock }: BlockRange): boolean {
  const range = ranges[firstEndingAt(ranges, firstBlock)];
  return range !== undefined && range.firstBlock <= lastBlock;
}

/**
 * The first blocks of a range that are in none of the lists, each ascending and disjoint, up to the next that is; null:
 * there are none. The cost is that of a few look-ups, however long the lists are.
 */
export function nextOutside(
  lists: readonly (readonly BlockRange[])[],
  { firstBlock, lastBlock }: BlockRange,
): BlockRange | null {
  let at = firstBlock;
  for (let moved = true; moved && at <= lastBlock; ) {
    moved = false;
    for (const list of lists) {
      const range = list[firstEndingAt(list, at)];
      if (range === undefined || range.firstBlock > at) continue;
      at = range.lastBlock + 1;
      moved = true;
    }
  }
  if (at > lastBlock) return null;
  const borders = lists.map((list) => list[firstEndingAt(list, at)]?.firstBlock ?? Number.POSITIVE_INFINITY);
  return { firstBlock: at, lastBlock: Math.min(lastBlock, ...borders.map((border) => border - 1)) };
}

/** Where the blocks around `block`, which is in none of the lists, begin that are in none; `first` at the lowest. */
export function startOutside(
  lists: readonly (readonly BlockRange[])[],
  block: number,
  first: number,
): number {
  return Math.max(first, ...lists.map((list) => (list[firstEndingAt(list, block) - 1]?.lastBlock ?? -1) + 1));
}

/** The parts of a range that are in none of the lists, each ascending and disjoint. */
export function subtractAll(
  { firstBlock, lastBlock }: BlockRange,
  lists: readonly (readonly BlockRange[])[],
): BlockRange[] {
  const left: BlockRange[] = [];
  for (let at = firstBlock; ; ) {
    const part = nextOutside(lists, { firstBlock: at, lastBlock });
    if (part === null) return left;
    left.push(part);
    at = part.lastBlock + 1;
  }
}

/** Adds a range to ranges, ascending and disjoint; those that it touches become one with it. */
export function addRange(ranges: BlockRange[], { firstBlock, lastBlock }: BlockRange): void {
  const from = firstEndingAt(ranges, firstBlock - 1);
  let to = from;
  while (to < ranges.length && (ranges[to] as BlockRange).firstBlock <= lastBlock + 1) to++;
  const [first, last] = [ranges[from], ranges[to - 1]];
  const merged =
    first === undefined || last === undefined || to === from
      ? { firstBlock: firstBlock, lastBlock: lastBlock }
      : {
          firstBlock: Math.min(firstBlock, first.firstBlock),
          lastBlock: Math.max(lastBlock, last.lastBlock),
        };
  ranges.splice(from, to - from, merged);
}

/** The index of the first range that ends at `number` or after it. */
export function firstEndingAt(ranges: readonly BlockRange[], number: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle] as BlockRange).lastBlock < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many blocks the ranges hold. */
export function countBlocks(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, range) => sum + range.lastBlock - range.firstBlock + 1, 0);
}
