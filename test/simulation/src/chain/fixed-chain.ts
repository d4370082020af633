import type { RecordedBlock } from '@packhouse/replay-node';
import type { HonestChain } from './honest-chain.js';

/** A chain that does not move: these blocks, in order and without gaps, final up to `finalized` (default: all). */
export function fixedChain(blocks: readonly RecordedBlock[], finalized?: number): HonestChain {
  const first = blocks[0]?.number ?? 0;
  const head = first + blocks.length - 1;
  const block = (number: number): RecordedBlock | undefined => blocks[number - first];
  return {
    first,
    head: () => head,
    finalized: () => finalized ?? head,
    block,
    ever: (number) => {
      const found = block(number);
      return found === undefined ? [] : [found];
    },
    blocks: () => blocks,
  };
}
