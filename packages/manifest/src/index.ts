export { createSigner, type Signer } from './create-signer.js';
export { MANIFEST_FORMAT, type ManifestEntry, NO_ENTRY, type SealedEntry } from './entry.js';
export { entryLine, entryText } from './entry-text.js';
export { keyIdOf, makeSigningKey, publicKeyOf, rawPublicKey, readSigningKey } from './signing-key.js';
