/*
 * The scanner: from a node's bytes to canonical texts, roots and checks, without objects. It may only agree or decline:
 * whatever it does not know goes to the prover in TypeScript, which has the last word and gives every error.
 *
 * For each block: `reserve`, a region for each answer, facts of the header at `block()`, then `transactions`, `receipts` and
 * `traces` in this order; what they found is at `result()`.
 */
import { HASH, TRANSACTIONS_ROOT } from './block';

export { unhex } from '../shared/hex';
export { keccak } from '../shared/keccak';
export {
  beginItem,
  beginList,
  endItem,
  endList,
  itemCount,
  itemEnd,
  itemStart,
  openRlp,
  putData,
  putEmpty,
  putQuantity,
  rlpListLength,
} from '../shared/rlp';
// What the block is proved by; called from outside by tests alone.
export { addToBloom, BLOOM, openBloom, orBloom } from './bloom';
export { region, reserve } from './memory';
export { outline } from './outline';
export { receipts } from './receipts';
export { traces } from './traces';
export { transactions } from './transactions';
export { trieRoot } from './trie';

export function block(): usize {
  return HASH;
}
export function result(): usize {
  return TRANSACTIONS_ROOT;
}
