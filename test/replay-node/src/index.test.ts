import { expect, test } from 'vitest';
import * as door from './index.js';

test('the package offers these names', () => {
  expect(Object.keys(door).sort()).toEqual([
    'chainDataDirectory',
    'createReplayNode',
    'extendChain',
    'generateChain',
    'giantTraceBlock',
    'joinChains',
    'loadAnswers',
    'loadRecording',
    'readText',
    'readValue',
    'recordedChain',
    'sentBy',
  ]);
});
