export { type CheckedLog, checkSeal, createVerifier } from './create-verifier.js';
export {
  entryLine,
  entryText,
  type FilterFile,
  NO_ENTRY,
  parseEntry,
  type SealedEntry,
} from './entry.js';
export {
  type BundleStep,
  type FeedBlock,
  type FeedStep,
  type FinalStep,
  type NewStep,
  parseFeedStep,
  type RepairedStep,
  type SkippedStep,
  type UndoStep,
  type WaitingStep,
} from './feed-step.js';
export { checkFilterSeal, sealFilter } from './filter-seal.js';
export {
  createSigner,
  getKeyId,
  makeSigningKey,
  readPublicKeys,
  readSigningKey,
  type Signer,
  toPublicKey,
} from './keys.js';
export { lakeEntryLine, type SealedLakeEntry } from './lake-entry.js';
export { logOf, parseLogEntry, type SealedLogEntry } from './log-entry.js';
