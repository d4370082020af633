import { headerLength } from '../encode/rlp-buffer.js';
import { toQuantity } from '../record/hex.js';
import { NO_SIZE } from './complete.js';
import { type BlockInHand, correct, disagree } from './tools.js';

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
 * there are only hashes, and not if the withdrawals are missing.
 *
 * Nor since Amsterdam, of which no client's count of the block's access list is known.
 *
 * Anvil does not count the list of withdrawals; texts that were written before may have its count.
 */
export function checkSize(block: BlockInHand, parts: PartLengths): void {
  const { record } = block;
  if (!block.checks.size || record.uncles.length > 0 || parts.transactions === undefined) return;
  if (record.blockAccessListHash != null) return;
  const bare = parts.header + headerLength(parts.transactions) + parts.transactions + 1;
  let payload = bare;
  if (record.withdrawalsRoot != null) {
    if (parts.withdrawals === undefined) return;
    payload += headerLength(parts.withdrawals) + parts.withdrawals;
  }
  const size = getSize(payload);
  if (record.size === size) return;
  if (block.corrected === undefined) {
    if (record.size === getSize(bare)) return;
    disagree(block, 'size', record.size, size, "it is the length of the block's RLP");
  }
  if (record.size !== NO_SIZE) correct(block, 'size');
  record.size = size;
}

function getSize(payload: number): string {
  return toQuantity(headerLength(payload) + payload);
}
