import { expect, it } from 'vitest';
import { blockNeeded } from './check-params.js';

const hash = `0x${'ab'.repeat(32)}`;

it.each([
  [undefined, 'tip'],
  ['latest', 'tip'],
  ['pending', 'tip'],
  ['safe', 'tip'],
  ['finalized', 'tip'],
  ['earliest', 0],
  ['0x10', 16],
  [hash, undefined],
  [{ blockHash: hash }, undefined],
  [{ blockNumber: '0x10' }, 16],
  [{ blockNumber: 'latest' }, 'tip'],
])('needs for the block parameter %j the block %s', (parameter, block) => {
  expect(blockNeeded(parameter)).toBe(block);
});
