import { expect, it } from 'vitest';
import * as door from './index.js';

it('the door has these names and no others', () => {
  expect(Object.keys(door).sort()).toEqual([
    'KINDS',
    'PROOFS',
    'RULE_NAMES',
    'canonicalCoreAddress',
    'canonicalRecord',
    'checkCoreAddress',
    'checkTotalDifficulty',
    'coreAddressHex',
    'createKeccak256',
    'createProver',
    'isKind',
    'outlineAnswer',
    'traceProofs',
  ]);
});
