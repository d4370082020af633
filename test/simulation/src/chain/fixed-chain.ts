import { type RecordedBlock, readValue, type ServedChain } from '@packhouse/replay-node';
import type { HonestChain } from './honest-chain.js';

/** A chain that does not move: these blocks, in order and without gaps, final up to `finalized` (default: all). */
export function fixedChain(blocks: readonly RecordedBlock[], finalized?: number): HonestChain {
  const first = blocks[0]?.number ?? 0;
  const head = first + blocks.length - 1;
  return toChain({ first, head, finalized: finalized ?? head }, (number) => blocks[number - first]);
}

/** A chain that does not move, all of it final; what a block holds is made when it is read. */
export function servedChain(chain: ServedChain): HonestChain {
  const { firstNumber: first, lastNumber: head } = chain;
  return toChain({ first, head, finalized: head }, (number) => {
    const served = chain.block(number);
    if (served === undefined) return undefined;
    return {
      number,
      get block() {
        return readValue(served, 'block') as RecordedBlock['block'];
      },
      get receipts() {
        return readValue(served, 'receipts') as NonNullable<RecordedBlock['receipts']>;
      },
      get traces() {
        return readValue(served, 'traces') as NonNullable<RecordedBlock['traces']>;
      },
    };
  });
}

function toChain(
  { first, head, finalized }: { first: number; head: number; finalized: number },
  block: HonestChain['block'],
): HonestChain {
  return {
    first,
    head: () => head,
    finalized: () => finalized,
    block,
    ever: (number) => [block(number)].filter((found) => found !== undefined),
  };
}
