import { expect, it } from 'vitest';
import * as door from './index.js';

it('the door has these names and no others', () => {
  expect(Object.keys(door).sort()).toEqual([
    'KINDS',
    'PROOFS',
    'RULE_NAMES',
    'TABLES',
    'addRange',
    'canonicalCoreAddress',
    'canonicalRecord',
    'checkCoreAddress',
    'checkTotalDifficulty',
    'coreAddressHex',
    'countBlocks',
    'createKeccak256',
    'createProver',
    'createReceiptRule',
    'createSenderThreads',
    'firstEndingAt',
    'hasNativeRecovery',
    'hasRules',
    'intersectRanges',
    'isBuiltIn',
    'isKind',
    'isTable',
    'nextOutside',
    'normalizeTraceError',
    'rangesInclude',
    'rangesTouch',
    'startOutside',
    'subtractAll',
    'subtractRanges',
    'toQuantity',
    'traceProofs',
    'unionRanges',
  ]);
});
