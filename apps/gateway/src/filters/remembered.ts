import type { ToldBlock } from './filter-state.js';

/** Blocks that are remembered: the hashes are about as much text as the logs. */
const BLOCKS = 128;
/** Characters of logs that are remembered of one filter: 16 MiB for all that a key may have. */
const TEXT = 16_384;

/**
 * What is worth remembering of what a filter told: the cursor, and what may still be undone. Logs of the newest blocks
 * are remembered as far as there is room; those of the others are asked for again where their block is undone.
 */
export function remembered(told: readonly ToldBlock[], final: number): ToldBlock[] {
  const recent = told
    .slice(-BLOCKS)
    .filter((block, at, all) => at === all.length - 1 || block.number > final);
  let room = TEXT;
  const kept = recent.reverse().map((block) => {
    for (const log of block.logs ?? []) room -= log.length;
    return room >= 0 ? block : { number: block.number, hash: block.hash };
  });
  return kept.reverse();
}
