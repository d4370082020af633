/*
 * The scanner: from a node's bytes to canonical texts, roots and checks, without objects. It may only agree or decline:
 * whatever it does not know goes to the prover in TypeScript, which has the last word and gives every error.
 *
 * For each block: `reserve`, a region for each answer, facts of the header at `block()`, then `transactions`, `receipts` and
 * `traces` in this order; what they found is at `result()`.
 */
import { HASH, TRANSACTIONS_ROOT } from './block.js';

export { unhex } from '../shared/hex.js';
export { keccak } from '../shared/keccak.js';
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
  putListHead,
  putQuantity,
  rlpListLength,
} from '../shared/rlp.js';
// What the block is proved by; called from outside by tests alone.
export { addToBloom, BLOOM, openBloom, orBloom } from './bloom.js';
export { region, reserve } from './memory.js';
export { outline } from './outline.js';
export { receipts } from './receipts.js';
export { traces } from './traces.js';
export { factsAt, transactions } from './transactions.js';
export { trieRoot } from './trie.js';

export function block(): usize {
  return HASH;
}
export function result(): usize {
  return TRANSACTIONS_ROOT;
}
