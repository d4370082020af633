import { PROOFS } from '@packhouse/chain';
import { expect, it } from 'vitest';
import { getProofs, proofsMask } from './codes.js';

it('a proof keeps its bit: stored rows keep their meaning', () => {
  const shown = [
    'headerHash',
    'parentLink',
    'transactionsRoot',
    'receiptsRoot',
    'logsBloom',
    'withdrawalsRoot',
    'consistency',
    'traces',
    'senders',
  ];
  expect(getProofs(0b1_1111_1111)).toEqual(shown);
  expect(getProofs(0b110_0000_0000)).toEqual(['sampledSenders', 'logAddresses']);
});

it('all proofs fit in the column and come back', () => {
  expect(getProofs(proofsMask(PROOFS))).toEqual(PROOFS);
  expect(proofsMask(PROOFS)).toBeLessThan(2 ** 31);
});
