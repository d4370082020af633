import type { BlockRange } from '@packhouse/chain';
import { PARTITION_BLOCKS } from '@packhouse/lake';
import { getOrAdd } from '@packhouse/runtime';

/** What is known of the files of some blocks, in a snapshot. */
interface Counted {
  files: number;
  rows: number;
  bytes: number;
  /** The newest snapshot that changed one of its files, and the oldest that added one. */
  changedSnapshot: number;
  oldestSnapshot: number;
}

/** The files of a partition. */
interface Chunk extends Counted {
  /** Its number: the first block divided by the blocks of a partition. */
  chunk: number;
}

/** Files that share a manifest. */
export interface Group extends Counted, BlockRange {}

/** Blocks of a group, the most first: each divides the one before. */
const SIZES = [100 * PARTITION_BLOCKS, 10 * PARTITION_BLOCKS, PARTITION_BLOCKS];
/**
 * Files of a manifest, if more can be avoided: 160 KB, made in 10 ms. Only the manifests of changed files are made again.
 */
const MAX_FILES = 1_000;
/** Files of a partition at most: those of the least number of blocks are of one. */
const MAX_PARTITION_FILES = PARTITION_BLOCKS;

/**
 * Groups the files of a snapshot for its manifests: a table has few, and none is large. The groups depend on the files alone,
 * so those of unchanged files stay.
 */
export function toGroups(chunks: readonly Chunk[], sizes: readonly number[] = SIZES): Group[] {
  const [size = PARTITION_BLOCKS, ...smaller] = sizes;
  const byGroup = new Map<number, Chunk[]>();
  for (const each of chunks) {
    const at = Math.floor((each.chunk * PARTITION_BLOCKS) / size);
    getOrAdd(byGroup, at, () => []).push(each);
  }
  return [...byGroup].flatMap(([at, within]) => {
    const files = within.reduce((sum, each) => sum + each.files, 0);
    if (files === 0) return [];
    if (files > MAX_FILES && smaller.length > 0) return toGroups(within, smaller);
    return [{ firstBlock: at * size, lastBlock: (at + 1) * size - 1, ...addUp(within) }];
  });
}

/** How many files a group of these blocks has at most; null: no group has these blocks. */
export function maxFilesOf({ firstBlock, lastBlock }: BlockRange): number | null {
  const size = lastBlock - firstBlock + 1;
  if (!SIZES.includes(size) || firstBlock % size !== 0) return null;
  return size === PARTITION_BLOCKS ? MAX_PARTITION_FILES : MAX_FILES;
}

function addUp(chunks: readonly Chunk[]): Counted {
  const sum = (of: 'files' | 'rows' | 'bytes'): number => chunks.reduce((total, each) => total + each[of], 0);
  return {
    files: sum('files'),
    rows: sum('rows'),
    bytes: sum('bytes'),
    changedSnapshot: Math.max(...chunks.map(({ changedSnapshot }) => changedSnapshot)),
    oldestSnapshot: Math.min(...chunks.map(({ oldestSnapshot }) => oldestSnapshot)),
  };
}
