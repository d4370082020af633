import { expect, it } from 'vitest';
import * as manifest from './index.js';

it('exports these names and no others', () => {
  expect(Object.keys(manifest).sort()).toEqual([
    'NO_ENTRY',
    'checkFilterSeal',
    'checkSeal',
    'createSigner',
    'createVerifier',
    'entryLine',
    'entryText',
    'getKeyId',
    'makeSigningKey',
    'parseEntry',
    'parseFeedStep',
    'readPublicKeys',
    'readSigningKey',
    'sealFilter',
    'toPublicKey',
  ]);
});
