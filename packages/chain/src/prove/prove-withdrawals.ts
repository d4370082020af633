import { encodeWithdrawal } from '../encode/encode-withdrawal.js';
import { equalsHex, toHex } from '../encode/keccak.js';
import { trieRoot } from '../encode/trie-root.js';
import { proofFailed } from '../failures.js';
import type { BlockInHand, Tools } from './tools.js';

/**
 * Proves the withdrawals against their root. Gives the bytes of all of them in RLP, or undefined where they cannot
 * be checked: the array is absent, or the block is of an OP stack, whose array is always empty and whose root is the
 * storage root of the contract that passes messages to L1 (Isthmus).
 */
export function proveWithdrawals(tools: Tools, block: BlockInHand): number | undefined {
  const { rlp, keccak } = tools;
  const { withdrawals, withdrawalsRoot } = block.record;
  if (withdrawals === undefined || withdrawalsRoot == null) return undefined;
  if (block.hasDeposits && withdrawals.length === 0) return undefined;
  rlp.clear();
  let length = 0;
  for (let index = 0; index < withdrawals.length; index++) {
    encodeWithdrawal(rlp, withdrawals[index]!);
    length += rlp.ends[index]! - rlp.starts[index]!;
  }
  const root = trieRoot(rlp, keccak);
  if (!equalsHex(root, withdrawalsRoot)) {
    const got = toHex(root);
    const what = `${withdrawals.length} withdrawals`;
    throw proofFailed({
      block: block.number,
      proof: 'withdrawalsRoot',
      field: 'withdrawalsRoot',
      expected: withdrawalsRoot,
      got,
      message: `withdrawalsRoot recomputed from ${what} is ${got}, the header says ${withdrawalsRoot}.`,
    });
  }
  return length;
}
