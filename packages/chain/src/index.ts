export { type CanonicalOptions, canonicalRecord } from './canonical-record.js';
export { checkParentLink } from './check-parent-link.js';
export { canonicalCoreAddress, checkCoreAddress, coreAddressHex } from './core-address.js';
export { createProver, type Prover } from './create-prover.js';
export { type BlockRange, isKind, KINDS, type Kind } from './kinds.js';
export type { BlockAnswer } from './prove/prove-block.js';
export type { TracedBlock, TraceProver } from './prove/trace-prover.js';
export {
  PROOFS,
  type Proof,
  type ProofPolicy,
  type ProvedBlock,
  type RecordTexts,
  type TransactionFacts,
} from './proved-block.js';
