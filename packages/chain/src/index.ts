export { canonicalRecord } from './canonical-record.js';
export { canonicalCoreAddress, checkCoreAddress, coreAddressHex } from './core-address.js';
export { createProver, type Prover } from './create-prover.js';
export { createKeccak256, type Keccak } from './encode/keccak.js';
export type { BareBlock } from './prove/prove-bare-block.js';
export type { RawBlock } from './prove/prove-raw.js';
export {
  type BlockSummary,
  type NotProved,
  PROOFS,
  type Proof,
  type ProofPolicy,
  type ProvedBlock,
} from './prove/proved-block.js';
export { checkTotalDifficulty } from './prove/total-difficulty.js';
export { type TracedBlock, traceProofs } from './prove/trace-prover.js';
export { type BlockRange, isKind, KINDS, type Kind } from './record/kinds.js';
export { RULE_NAMES } from './rules/find-rules.js';
export { type Outlined, outlineAnswer } from './scan/outline.js';
