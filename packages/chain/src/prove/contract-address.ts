import type { Keccak } from '../encode/keccak.js';
import { toHex } from '../encode/keccak.js';
import type { RlpBuffer } from '../encode/rlp-buffer.js';

/**
 * Address of the contract that `from` creates with this nonce: the last 20 bytes of keccak(RLP([from, nonce])).
 *
 * Adds an item to `rlp`. Source: Yellow Paper, section 7.
 */
export function contractAddress(rlp: RlpBuffer, keccak: Keccak, from: string, nonce: string): string {
  const payload = rlp.beginItem();
  rlp.data(from);
  rlp.quantity(nonce);
  rlp.endItem(payload);
  return toHex(keccak.hash(rlp.item(rlp.count - 1)).subarray(12));
}
