import { PROOFS } from '@packhouse/chain';
import { expect, it } from 'vitest';
import { proofsMask, proofsOf } from './codes.js';

it('a proof keeps its bit: rows of older versions mean what they meant', () => {
  const older = [
    ...['headerHash', 'parentLink', 'transactionsRoot', 'receiptsRoot', 'logsBloom', 'withdrawalsRoot'],
    ...['consistency', 'traces', 'senders'],
  ];
  expect(proofsOf(0b1_1111_1111)).toEqual(older);
  expect(proofsOf(0b110_0000_0000)).toEqual(['sampledSenders', 'logAddresses']);
});

it('all proofs fit in the column and come back', () => {
  expect(proofsOf(proofsMask(PROOFS))).toEqual(PROOFS);
  expect(proofsMask(PROOFS)).toBeLessThan(2 ** 31);
});
