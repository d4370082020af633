import type { Withdrawal } from '../read/withdrawal.js';
import type { RlpBuffer } from './rlp-buffer.js';

/** Adds a withdrawal's encoding as an item: the leaf of the withdrawals' trie (EIP-4895). */
export function encodeWithdrawal(rlp: RlpBuffer, withdrawal: Withdrawal): void {
  const payload = rlp.beginItem();
  rlp.quantity(withdrawal.index);
  rlp.quantity(withdrawal.validatorIndex);
  rlp.data(withdrawal.address);
  rlp.quantity(withdrawal.amount);
  rlp.endItem(payload);
}
