/*
 * The scanner: from a node's bytes to canonical texts, roots and checks, without objects. It may only agree or decline:
 * whatever it does not know goes to the prover in TypeScript, which has the last word and gives every error.
 */

// What the block is proved by; called from outside by tests alone.
export { addToBloom, BLOOM, openBloom, orBloom } from './bloom';
export { unhex } from './hex';
export { keccak } from './keccak';
export { region, reserve } from './memory';
export { outline } from './outline';
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
} from './rlp';
export { trieRoot } from './trie';
