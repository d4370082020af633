import { encodeWithdrawal } from '../encode/encode-block.js';
import { EMPTY_ROOT, trieRoot } from '../encode/trie-root.js';
import { type BlockInHand, checkRoot, type Tools } from './tools.js';

const MESSAGES_TO_L1 =
  'the header has the storage root of the contract that passes messages to L1 in the place of the root of withdrawals';

/**
 * Proves the withdrawals against their root. Returns the bytes of all in RLP, or undefined if they cannot be checked:
 * the array is absent, or the block is of an OP stack, where the array is always empty and the root is, since Isthmus, the
 * storage root of the contract that passes messages to L1.
 */
export function proveWithdrawals(tools: Tools, block: BlockInHand): number | undefined {
  const { rlp, keccak } = tools;
  const { withdrawals, withdrawalsRoot } = block.record;
  if (withdrawals === undefined || withdrawalsRoot == null) return undefined;
  if (block.hasDeposits && withdrawals.length === 0 && withdrawalsRoot !== EMPTY_ROOT) {
    block.notProved.set('withdrawalsRoot', MESSAGES_TO_L1);
    return undefined;
  }
  rlp.clear();
  let length = 0;
  for (let index = 0; index < withdrawals.length; index++) {
    encodeWithdrawal(rlp, withdrawals[index]!);
    length += rlp.ends[index]! - rlp.starts[index]!;
  }
  checkRoot(block, 'withdrawalsRoot', trieRoot(rlp, keccak), `${withdrawals.length} withdrawals`);
  return length;
}

/** Whether the header says that there are withdrawals, and the node left them out. */
export function lacksWithdrawals({ record, hasDeposits }: BlockInHand): boolean {
  const { withdrawals, withdrawalsRoot } = record;
  return (
    withdrawals === undefined && withdrawalsRoot != null && withdrawalsRoot !== EMPTY_ROOT && !hasDeposits
  );
}
