import { encodeWithdrawal } from '../encode/encode-block.js';
import { headerLength } from '../encode/rlp-buffer.js';
import { EMPTY_ROOT, trieRoot } from '../encode/trie-root.js';
import { toQuantity } from '../record/hex.js';
import type { Raw } from '../record/reader.js';
import { NO_SIZE } from './complete.js';
import type { Proof } from './proved-block.js';
import { type BlockInHand, checkRoot, correct, disagree, type Tools } from './tools.js';

/**
 * Proves what is neither a transaction nor a receipt, once the transactions are: withdrawals, and the size. Returns the
 * proofs that are passed then.
 */
export function proveFrame(
  tools: Tools,
  block: BlockInHand,
  answer: unknown,
  lengths: { header: number; transactions: number | undefined },
): Set<Proof> {
  const { reader, record, unproved } = block;
  const proofs = new Set<Proof>(['transactionsRoot', 'consistency']);
  if (unproved.header === undefined) proofs.add('headerHash');
  const withdrawals = proveWithdrawals(tools, block);
  if (withdrawals !== undefined) proofs.add('withdrawalsRoot');
  const sized = withdrawals ?? (record.withdrawals?.length === 0 ? 0 : undefined);
  // That withdrawals are missing is named already.
  if (!checkSize(block, { ...lengths, withdrawals: sized }) && !lacksWithdrawals(block)) {
    block.unchecked.add('size');
  }
  if (tools.policy.derived !== 'leave' && record.size === NO_SIZE && (answer as Raw).size == null) {
    reader.fail('size', 'a QUANTITY', undefined);
  }
  return proofs;
}

const MESSAGES_TO_L1 =
  'the header has the storage root of the contract that passes messages to L1 in the place of the root of withdrawals';

/**
 * Proves the withdrawals against their root. Returns the bytes of all in RLP, or undefined if they cannot be checked:
 * the array is absent, or the block is of an OP stack, where the array is always empty and the root is, since Isthmus, the
 * storage root of the contract that passes messages to L1.
 */
function proveWithdrawals(tools: Tools, block: BlockInHand): number | undefined {
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

/** Bytes in RLP of a block's parts, without the headers of the lists around them. */
interface PartLengths {
  /** With its own list header. */
  header: number;
  /** undefined if the transactions are not proved. */
  transactions: number | undefined;
  /** undefined if the withdrawals are not known. */
  withdrawals: number | undefined;
}

/**
 * Checks `size`, the bytes of the block's RLP, and puts it right, if every part is known: not with uncles, of which
 * there are only hashes, not with transactions that are in no root, and not if the withdrawals are missing. Returns whether
 * it did.
 *
 * Nor since Amsterdam, of which no client's count of the block's access list is known.
 *
 * Anvil does not count the list of withdrawals; texts that were written before may have its count.
 */
function checkSize(block: BlockInHand, parts: PartLengths): boolean {
  const { record } = block;
  if (!block.checks.size || record.uncles.length > 0 || parts.transactions === undefined) return false;
  if (record.blockAccessListHash != null || block.outside.size > 0) return false;
  const bare = parts.header + headerLength(parts.transactions) + parts.transactions + 1;
  let payload = bare;
  if (record.withdrawalsRoot != null) {
    if (parts.withdrawals === undefined) return false;
    payload += headerLength(parts.withdrawals) + parts.withdrawals;
  }
  const size = getSize(payload);
  if (record.size === size) return true;
  if (block.corrected === undefined) {
    if (record.size === getSize(bare)) return true;
    disagree(block, 'size', record.size, size, "it is the length of the block's RLP");
  }
  if (record.size !== NO_SIZE) correct(block, 'size');
  record.size = size;
  return true;
}

function getSize(payload: number): string {
  return toQuantity(headerLength(payload) + payload);
}
