import { PackhouseError } from '@packhouse/runtime';
import type { ServedBlock, ServedChain } from './served-chain.js';

/**
 * One chain out of several: from where each begins it takes over from those before it. A branch joined to its trunk
 * is the chain after a reorganisation.
 *
 * @throws PackhouseError USAGE if a chain does not link to the one before it.
 */
export function joinChains(first: ServedChain, ...rest: readonly ServedChain[]): ServedChain {
  return rest.reduce(joinTwo, first);
}

function joinTwo(trunk: ServedChain, branch: ServedChain): ServedChain {
  const fork = branch.firstNumber;
  const parent = trunk.block(fork - 1);
  const child = branch.block(fork);
  if (parent === undefined || child?.parentHash !== parent.hash) {
    throw new PackhouseError({
      code: 'USAGE',
      message: `Block ${fork} does not link to the chain it is joined to: its parent is ${child?.parentHash}, block ${fork - 1} there is ${parent?.hash ?? 'absent'}.`,
      hint: 'Make the branch with `after: trunk.block(n)`.',
    });
  }
  return {
    firstNumber: trunk.firstNumber,
    lastNumber: branch.lastNumber,
    block: (number): ServedBlock | undefined => (number < fork ? trunk : branch).block(number),
    toNumber(hash) {
      const inTrunk = trunk.toNumber(hash);
      return inTrunk !== undefined && inTrunk < fork ? inTrunk : branch.toNumber(hash);
    },
    locateTransaction(hash) {
      const inTrunk = trunk.locateTransaction(hash);
      return inTrunk !== undefined && inTrunk.number < fork ? inTrunk : branch.locateTransaction(hash);
    },
  };
}
