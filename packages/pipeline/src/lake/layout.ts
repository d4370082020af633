import { type BlockRange, intersectRanges } from '@packhouse/chain';

/** A published bundle, as far as the layout depends on it. */
interface Source extends BlockRange {
  byteLength: number;
}

/** How blocks are spread over files. */
export interface Grid {
  /** Blocks of a file, the most first: each divides the one before. */
  sizes: readonly number[];
  /** Bytes of bundles of a file at most, if smaller files are allowed. */
  maxBytes: number;
}

/**
 * 10,000 blocks of a busy network are 100 to 300 MB of Parquet. A file is in memory once while it is stored, so more bytes
 * make more files.
 */
export const GRID: Grid = { sizes: [10_000, 1_000, 100], maxBytes: 268_435_456 };

/** The blocks whose files are laid out together: those that one largest file may have. */
export function cellOf(block: number, { sizes }: Grid): BlockRange {
  const size = sizes[0] as number;
  const firstBlock = block - (block % size);
  return { firstBlock, lastBlock: firstBlock + size - 1 };
}

/**
 * The files of a cell, of these blocks that do not touch: as large as the grid allows, and the rest before the next multiple of
 * the smallest size. It depends on nothing but what is published, so files that were written stay, and whoever writes
 * makes the same ones.
 */
export function layOut(runs: readonly BlockRange[], sources: readonly Source[], grid: Grid): BlockRange[] {
  const files: BlockRange[] = [];
  const smallest = grid.sizes.at(-1) as number;
  const fits = (range: BlockRange): boolean =>
    sources
      .filter((source) => intersectRanges([source], [range]).length > 0)
      .reduce((sum, { byteLength }) => sum + byteLength, 0) <= grid.maxBytes;
  for (const run of runs) {
    for (let firstBlock = run.firstBlock; firstBlock <= run.lastBlock; ) {
      const toFile = (size: number): BlockRange => ({ firstBlock, lastBlock: firstBlock + size - 1 });
      const size = grid.sizes.find(
        (each) =>
          firstBlock % each === 0 &&
          firstBlock + each - 1 <= run.lastBlock &&
          (each === smallest || fits(toFile(each))),
      );
      const file = toFile(
        size ?? Math.min(smallest - (firstBlock % smallest), run.lastBlock - firstBlock + 1),
      );
      files.push(file);
      firstBlock = file.lastBlock + 1;
    }
  }
  return files;
}
