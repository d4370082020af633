export { createSigner, type Signer } from './create-signer.js';
export { type CheckedLog, createVerifier, type Verifier } from './create-verifier.js';
export { MANIFEST_FORMAT, type ManifestEntry, NO_ENTRY, type SealedEntry } from './entry.js';
export { entryLine, entryText } from './entry-text.js';
export { parseEntry } from './parse-entry.js';
export { readPublicKeys } from './read-public-keys.js';
export { keyIdOf, makeSigningKey, publicKeyOf, rawPublicKey, readSigningKey } from './signing-key.js';
