import { expect, test } from 'vitest';
import * as door from './index.js';

test('the package offers these names', () => {
  expect(Object.keys(door).sort()).toEqual([
    'TRANSFER_TOPICS',
    'abiString',
    'abiUints',
    'abiWords',
    'contractAt',
    'createGarblingNode',
    'createReplayNode',
    'extendChain',
    'forkChain',
    'generateChain',
    'giantTraceBlock',
    'loadAnswers',
    'readValue',
    'sentBy',
    'toBase32',
    'userAt',
  ]);
});
