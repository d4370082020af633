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
  newBlockFile,
  parseFeedStep,
  type RepairedStep,
  type SkippedStep,
  type UndoStep,
  type WaitingStep,
} from './feed-step.js';
export {
  checkFilterSeal,
  createSigner,
  getKeyId,
  makeSigningKey,
  readPublicKeys,
  readSigningKey,
  type Signer,
  sealFilter,
  toPublicKey,
} from './keys.js';
export {
  lakeEntryLine,
  logOf,
  parseLogEntry,
  type SealedLakeEntry,
  type SealedLogEntry,
} from './lake-entry.js';
