import { expect, it } from 'vitest';
import { didYouMean } from './did-you-mean.js';

it.each([
  ['chainid', ' (did you mean "chainId"?)'],
  ['chianId', ' (did you mean "chainId"?)'],
  ['upstream', ' (did you mean "upstreams"?)'],
  ['colour', ''],
  ['', ''],
  ['x'.repeat(10_000), ''],
])('finds what %s was meant to be, or nothing', (word, hint) => {
  expect(didYouMean(word, ['id', 'chainId', 'upstreams', 'finality'])).toBe(hint);
});
