import type { ProvedBlock } from './prove/proved-block.js';
import { proofFailed } from './prove/tools.js';
import { EXACT_LENGTH, exactNumber, toQuantity } from './record/hex.js';

type Link = Pick<ProvedBlock, 'number' | 'hash' | 'parentHash' | 'proofs' | 'difficulty' | 'totalDifficulty'>;

/**
 * Checks a block's `totalDifficulty` against the block before: it grows by the block's difficulty (Yellow Paper 4.3.4),
 * and since the merge, where that is 0, not at all. No header commits to it, so nothing is said of blocks that do not
 * follow each other, whose headers are only trusted, or that do not have it.
 *
 * @throws PROOF_FAILED
 */
export function checkTotalDifficulty(before: Link, block: Link): void {
  if (block.parentHash !== before.hash) return;
  if (!block.proofs.includes('headerHash') || !before.proofs.includes('headerHash')) return;
  if (block.totalDifficulty == null || before.totalDifficulty == null) return;
  const expected = sum(before.totalDifficulty, block.difficulty);
  const got = block.totalDifficulty;
  if (got === expected) return;
  const because = `block ${before.number} has ${before.totalDifficulty}, and the difficulty is ${block.difficulty}`;
  throw proofFailed({
    block: block.number,
    proof: 'parentLink',
    field: 'totalDifficulty',
    expected,
    got,
    kinds: ['blocks'],
    message: `totalDifficulty is ${got}, expected ${expected}: ${because}.`,
  });
}

function sum(a: string, b: string): string {
  if (a.length <= EXACT_LENGTH && b.length <= EXACT_LENGTH) {
    return toQuantity(exactNumber(a) + exactNumber(b));
  }
  return toQuantity(BigInt(a) + BigInt(b));
}
