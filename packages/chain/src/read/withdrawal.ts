import { addPair, moreFields, type Pairs } from './more-fields.js';
import type { Reader } from './reader.js';
import { UNLISTED_FIELDS } from './tables.js';

/** A withdrawal from the beacon chain (EIP-4895), in canonical form. */
export interface Withdrawal {
  index: string;
  validatorIndex: string;
  address: string;
  /** In Gwei. */
  amount: string;
  /** The whole record as canonical JSON. */
  text: string;
}

/** Reads one entry of a block's `withdrawals`. */
export function readWithdrawal(reader: Reader, value: unknown): Withdrawal {
  const raw = reader.object(value, 'the withdrawal');
  const index = reader.quantity(raw.index, 'index');
  const validatorIndex = reader.quantity(raw.validatorIndex, 'validatorIndex');
  const address = reader.bytes(raw.address, 'address', 20);
  const amount = reader.quantity(raw.amount, 'amount');
  const pairs: Pairs = [];
  addPair(pairs, 'address', address);
  addPair(pairs, 'amount', amount);
  addPair(pairs, 'index', index);
  addPair(pairs, 'validatorIndex', validatorIndex);
  const members = moreFields(reader, raw, UNLISTED_FIELDS, 0, pairs);
  return { index, validatorIndex, address, amount, text: `{${members.slice(1)}}` };
}
