import { type BlockRange, intersectRanges } from '@packhouse/chain';

/** A published bundle, as far as the layout depends on it. */
interface Source extends BlockRange {
  byteLength: number;
}

/** How blocks are spread over files. */
export interface Grid {
  /** Blocks of files whose cell is not complete, the most first: each divides the one before. The first is a cell's. */
  sizes: readonly number[];
  /** Blocks of files that have several whole cells, the most first, which is a partition at most; multiples of the next. */
  larger: readonly number[];
  /** About how many bytes a file has at most, if smaller ones are allowed. */
  maxBytes: number;
  /** Bytes of bundles of its first kind that are read for a file at most, if smaller ones are allowed. */
  maxBundleBytes: number;
}

/**
 * A file is in memory once or twice while it is stored, and new blocks wait for that. 2 GiB of bundles are read in some
 * minutes; new blocks wait for one bundle.
 */
export const GRID: Grid = {
  sizes: [10_000, 5_000, 1_000, 500, 100],
  larger: [100_000, 50_000],
  maxBytes: 268_435_456,
  maxBundleBytes: 2_147_483_648,
};

/** The blocks whose files are laid out together. */
export function cellOf(block: number, { sizes }: Grid): BlockRange {
  return rangeOf(block, sizes[0] as number);
}

/** The range of so many blocks that has the block: it begins at a multiple of its size. */
export function rangeOf(block: number, size: number): BlockRange {
  const firstBlock = block - (block % size);
  return { firstBlock, lastBlock: firstBlock + size - 1 };
}

/**
 * The files of a cell, of these blocks that do not touch. A whole cell is one file, or as few of the same length as have not
 * too many bytes each. In other cells files are as large as the grid allows, and the rest before the next multiple of
 * the smallest size. It depends on nothing but what is published, so files that were written stay, and whoever writes
 * makes the same ones.
 */
export function layOut(
  cell: BlockRange,
  runs: readonly BlockRange[],
  fits: (range: BlockRange) => boolean,
  grid: Grid,
): BlockRange[] {
  const smallest = grid.sizes.at(-1) as number;
  const [run] = runs;
  if (run?.firstBlock === cell.firstBlock && run.lastBlock === cell.lastBlock) {
    return split(cell, smallest, fits);
  }
  return runs.flatMap((each) => cut(each, fits, grid));
}

/** Whether files of these bundles have not too many bytes. */
export function createFits(
  sources: readonly Source[],
  expectedBytes: (bundleBytes: number) => number,
  { maxBytes, maxBundleBytes }: Grid,
): (range: BlockRange) => boolean {
  return (range) => {
    const touching = sources.filter((source) => intersectRanges([source], [range]).length > 0);
    const bytes = touching.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return bytes <= maxBundleBytes && expectedBytes(bytes) <= maxBytes;
  };
}

/** As few parts as fit, of multiples of `unit` blocks and about the same length. */
function split(
  { firstBlock, lastBlock }: BlockRange,
  unit: number,
  fits: (range: BlockRange) => boolean,
): BlockRange[] {
  const units = (lastBlock - firstBlock + 1) / unit;
  for (let count = 1; ; count += 1) {
    const startOf = (part: number): number => firstBlock + Math.round((part * units) / count) * unit;
    const parts = Array.from({ length: count }, (_, part) => {
      return { firstBlock: startOf(part), lastBlock: startOf(part + 1) - 1 };
    });
    if (count === units || parts.every(fits)) return parts;
  }
}

function cut(run: BlockRange, fits: (range: BlockRange) => boolean, { sizes }: Grid): BlockRange[] {
  const files: BlockRange[] = [];
  const smallest = sizes.at(-1) as number;
  for (let firstBlock = run.firstBlock; firstBlock <= run.lastBlock; ) {
    const toFile = (size: number): BlockRange => ({ firstBlock, lastBlock: firstBlock + size - 1 });
    const size = sizes.find(
      (each) =>
        firstBlock % each === 0 &&
        firstBlock + each - 1 <= run.lastBlock &&
        (each === smallest || fits(toFile(each))),
    );
    const file = toFile(size ?? Math.min(smallest - (firstBlock % smallest), run.lastBlock - firstBlock + 1));
    files.push(file);
    firstBlock = file.lastBlock + 1;
  }
  return files;
}
