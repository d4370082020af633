import { headerLength } from '../encode/rlp-buffer.js';
import { type BlockInHand, disagree } from './tools.js';

/** Bytes in RLP of a block's parts, without the headers of the lists around them. */
export interface PartLengths {
  /** With its own list header. */
  header: number;
  transactions: number;
  /** undefined where the withdrawals are not known. */
  withdrawals: number | undefined;
}

/**
 * Checks `size`, the bytes of the block's RLP, where every part is known: not with uncles, of which only hashes are
 * given, and not where a block with withdrawals came without them.
 *
 * Anvil does not count the list of withdrawals; both counts are accepted, as no header commits to either.
 */
export function checkSize(block: BlockInHand, parts: PartLengths): void {
  const { record } = block;
  if (!block.strict || record.uncles.length > 0) return;
  const bare = parts.header + headerLength(parts.transactions) + parts.transactions + 1;
  let payload = bare;
  if (record.withdrawalsRoot != null) {
    if (parts.withdrawals === undefined) return;
    payload += headerLength(parts.withdrawals) + parts.withdrawals;
  }
  const size = sizeOf(payload);
  if (record.size === size || record.size === sizeOf(bare)) return;
  disagree(block, 'size', record.size, size, "it is the length of the block's RLP");
}

function sizeOf(payload: number): string {
  return `0x${(headerLength(payload) + payload).toString(16)}`;
}
