import { expect, it } from 'vitest';
import { checkParentLink } from './check-parent-link.js';

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const previous = { number: 7, hash: hash('a') };

it('accepts the next block with the right parent', () => {
  expect(() => checkParentLink(previous, { number: 8, parentHash: hash('a') })).not.toThrow();
});

it('names both hashes where the chain is broken', () => {
  const broken = () => checkParentLink(previous, { number: 8, parentHash: hash('b') });
  expect(broken).toThrowError(`Block 8: its parentHash is ${hash('b')}, but block 7 is ${hash('a')}.`);
  expect(broken).toThrowError(
    expect.objectContaining({
      code: 'PROOF_FAILED',
      data: { block: 8, proof: 'parentLink', field: 'parentHash', expected: hash('a'), got: hash('b') },
    }),
  );
});

it('names the numbers where a block is skipped', () => {
  expect(() => checkParentLink(previous, { number: 9, parentHash: hash('a') })).toThrowError(
    expect.objectContaining({ data: expect.objectContaining({ field: 'number', expected: '8', got: '9' }) }),
  );
});
