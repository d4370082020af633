export { canonicalRecord } from './canonical-record.js';
export { canonicalCoreAddress, checkCoreAddress, coreAddressHex } from './core-address.js';
export { createProver, type Prover } from './create-prover.js';
export { createKeccak256, type Keccak } from './encode/keccak.js';
export { hasNativeRecovery } from './encode/recover-key.js';
export { EMPTY_ROOT } from './encode/trie-root.js';
export type { BareBlock } from './prove/prove-bare-block.js';
export type { RawBlock } from './prove/prove-raw.js';
export {
  type BlockSummary,
  type NotProved,
  PROOFS,
  type Proof,
  type ProofPolicy,
  type ProvedBlock,
  type SenderCheck,
} from './prove/proved-block.js';
export { type TracedBlock, traceProofs } from './prove/trace-prover.js';
export {
  addRange,
  countBlocks,
  firstEndingAt,
  intersectRanges,
  nextOutside,
  rangesInclude,
  rangesTouch,
  startOutside,
  subtractAll,
  subtractRanges,
  unionRanges,
} from './ranges.js';
export { toQuantity } from './record/hex.js';
export {
  type BlockRange,
  isKind,
  isTable,
  KINDS,
  type Kind,
  TABLES,
  type TableName,
} from './record/kinds.js';
export { TOKEN_EVENTS } from './record/token-events.js';
export { isBuiltIn, normalizeTraceError } from './record/trace-errors.js';
export { concerns } from './record/unchecked.js';
export { createReceiptRule, hasRules, RULE_NAMES } from './rules/find-rules.js';
export { createSenderThreads, type SenderThreads } from './senders/sender-threads.js';
export { checkTotalDifficulty } from './total-difficulty.js';
