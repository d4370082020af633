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
    'lakeEntryLine',
    'logOf',
    'makeSigningKey',
    'newBlockFile',
    'parseEntry',
    'parseFeedStep',
    'parseLogEntry',
    'readPublicKeys',
    'readSigningKey',
    'sealFilter',
    'toPublicKey',
  ]);
});
