export { type CheckedLog, checkSeal, createVerifier } from './create-verifier.js';
export {
  entryLine,
  entryText,
  type FilterFile,
  NO_ENTRY,
  parseEntry,
  type SealedEntry,
} from './entry.js';
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
