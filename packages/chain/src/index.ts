export { type BlockRange, isKind, KINDS, type Kind } from './kinds.js';
export {
  PROOFS,
  type Proof,
  type ProofPolicy,
  type ProvedBlock,
  type RecordTexts,
  type TransactionFacts,
} from './proved-block.js';
