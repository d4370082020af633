import type { BlockRange } from '@packhouse/chain';

/** Blocks of a chunk, as the triggers of packhouse.published_chunk count them. */
const CHUNK_BLOCKS = 16_384;

/** What is published of one kind, as of a version. Neither is ever changed: callers keep the ranges. */
export interface Published {
  version: number;
  /** Ascending and disjoint; ranges that touch are one. */
  ranges: readonly BlockRange[];
}

/** What is published within one chunk by now. */
export interface ChangedChunk {
  chunk: number;
  version: number;
  runs: BlockRange[];
}

/** Before anything was read. */
export const NOTHING_PUBLISHED: Published = { version: 0, ranges: [] };

/** What is published after some chunks changed; these come in ascending order. The same object if none did. */
export function publishedAfter(before: Published, changes: readonly ChangedChunk[]): Published {
  if (changes.length === 0) return before;
  const { ranges: old } = before;
  const ranges: BlockRange[] = [];
  const push = (range: BlockRange): void => {
    const last = ranges.at(-1);
    if (last === undefined || last.lastBlock < range.firstBlock - 1) ranges.push(range);
    else ranges[ranges.length - 1] = { firstBlock: last.firstBlock, lastBlock: range.lastBlock };
  };
  let at = 0;
  /** The part of `old[at]` that is still to be copied. */
  let rest = old[0];
  const next = (): void => {
    rest = old[++at];
  };
  let { version } = before;
  for (const change of changes) {
    const first = change.chunk * CHUNK_BLOCKS;
    const last = first + CHUNK_BLOCKS - 1;
    for (; rest !== undefined && rest.lastBlock < first; next()) push(rest);
    if (rest !== undefined && rest.firstBlock < first)
      push({ firstBlock: rest.firstBlock, lastBlock: first - 1 });
    for (const run of change.runs) push(run);
    while (rest !== undefined && rest.lastBlock <= last) next();
    if (rest !== undefined && rest.firstBlock <= last)
      rest = { firstBlock: last + 1, lastBlock: rest.lastBlock };
    version = Math.max(version, change.version);
  }
  for (; rest !== undefined; next()) push(rest);
  return { version, ranges };
}
