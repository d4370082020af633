import type { BlockRange } from '@packhouse/chain';

/** The facts of a published bundle that a choice needs. */
export interface BundleRow extends BlockRange {
  /** Of its entry; -1 if there is no manifest. */
  sequence: number;
  bytes: number;
  /** 1, or more if it was published again: the highest of a range counts. */
  version: number;
  /** Where its line is in the manifest, in bytes; 0 if there is no manifest. */
  offset: number;
  /** Of the line. */
  length: number;
}

const FIELDS = ['sequence', 'firstBlock', 'lastBlock', 'bytes', 'version', 'offset', 'length'] as const;
const WIDTH = FIELDS.length;
const [SEQUENCE, FIRST, LAST, VERSION] = [0, 1, 2, 4];

/** Bundles in the order they were added, 60 bytes each. */
export interface BundleRows {
  readonly count: number;
  add(row: BundleRow): void;
  at(index: number): BundleRow;
  /** The row of an entry. */
  find(sequence: number): number | undefined;
  /**
   * The bundles that have a block of the range, ascending, of each the newest version; by their indexes.
   */
  choose(range: BlockRange): Uint32Array;
  /** First and last block of all bundles; null if there are none. */
  extent(): BlockRange | null;
}

/**
 * Creates an empty list, at first with room for `expected` bundles: numbers in one buffer, because 200,000 objects would
 * cost ten times as much memory.
 */
export function createBundleRows(expected = 0): BundleRows {
  let cells = new Float64Array(WIDTH * (expected + 1_024));
  let count = 0;
  /** One more than the row of each entry; 0: there is none. */
  let bySequence = new Int32Array(expected + 1_024);
  const cell = (index: number, field: number): number => cells[index * WIDTH + field] as number;
  return {
    get count() {
      return count;
    },
    add(row) {
      if ((count + 1) * WIDTH > cells.length) {
        const larger = new Float64Array(cells.length * 2);
        larger.set(cells);
        cells = larger;
      }
      for (const [field, name] of FIELDS.entries()) cells[count * WIDTH + field] = row[name];
      count += 1;
      if (row.sequence < 0) return;
      if (row.sequence >= bySequence.length) {
        const larger = new Int32Array(2 * row.sequence);
        larger.set(bySequence);
        bySequence = larger;
      }
      bySequence[row.sequence] = count;
    },
    at: (index) => ({
      sequence: cell(index, SEQUENCE),
      firstBlock: cell(index, FIRST),
      lastBlock: cell(index, LAST),
      bytes: cell(index, 3),
      version: cell(index, VERSION),
      offset: cell(index, 5),
      length: cell(index, 6),
    }),
    find: (sequence) => {
      const row = bySequence[sequence] ?? 0;
      return row === 0 ? undefined : row - 1;
    },
    choose({ firstBlock, lastBlock }) {
      const found = new Uint32Array(count);
      let length = 0;
      for (let index = 0; index < count; index += 1) {
        if (cell(index, FIRST) <= lastBlock && cell(index, LAST) >= firstBlock) found[length++] = index;
      }
      const sorted = found
        .subarray(0, length)
        .sort((a, b) => cell(a, FIRST) - cell(b, FIRST) || cell(a, VERSION) - cell(b, VERSION));
      return sorted.filter((index, at) => cell(index, FIRST) !== cell(sorted[at + 1] ?? -1, FIRST));
    },
    extent() {
      if (count === 0) return null;
      const all = { firstBlock: Number.POSITIVE_INFINITY, lastBlock: 0 };
      for (let index = 0; index < count; index += 1) {
        all.firstBlock = Math.min(all.firstBlock, cell(index, FIRST));
        all.lastBlock = Math.max(all.lastBlock, cell(index, LAST));
      }
      return all;
    },
  };
}

/** What of `range` no bundle of `chosen` (ascending) has. */
export function holesIn(range: BlockRange, rows: BundleRows, chosen: Uint32Array): BlockRange[] {
  const holes: BlockRange[] = [];
  let next = range.firstBlock;
  for (const index of chosen) {
    const { firstBlock, lastBlock } = rows.at(index);
    if (firstBlock > next) holes.push({ firstBlock: next, lastBlock: firstBlock - 1 });
    next = Math.max(next, lastBlock + 1);
  }
  if (next <= range.lastBlock) holes.push({ firstBlock: next, lastBlock: range.lastBlock });
  return holes;
}
