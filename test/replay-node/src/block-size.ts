import { listLength } from './rlp.js';

/** Encoded lengths of a block's parts, each without the list around it. */
interface BlockParts {
  /** The header with its own list around it. */
  header: number;
  /** Each transaction as it stands in the block: one with a type is a byte string. */
  transactions: number;
  /** undefined before Shanghai. */
  withdrawals?: number;
}

/** Bytes of the RLP of a block without uncles: its field `size`. */
export function blockSize({ header, transactions, withdrawals }: BlockParts): number {
  const uncles = listLength(0);
  const rest = withdrawals === undefined ? 0 : listLength(withdrawals);
  return listLength(header + listLength(transactions) + uncles + rest);
}

/** The size of a block whose header became so many bytes longer or shorter. */
export function resizedBlock(size: number, bytes: number): number {
  if (bytes === 0) return size;
  // The list around a block is 1 to 5 bytes longer than what is in it.
  for (let prefix = 1; prefix <= 5; prefix++) {
    if (listLength(size - prefix) === size) return listLength(size - prefix + bytes);
  }
  return size + bytes;
}
