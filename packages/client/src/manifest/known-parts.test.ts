import { expect, it } from 'vitest';
import { ALL_BLOCKS, isWhole, type KnownPart, missingParts, withPart } from './known-parts.js';

const part = (firstBlock: number, lastBlock: number, through: number): KnownPart => ({
  firstBlock,
  lastBlock,
  through,
});
const missing = (known: readonly KnownPart[], from: number, to: number, newest: number): string[] =>
  missingParts(known, { firstBlock: from, lastBlock: to }, newest).map(
    ({ firstBlock, lastBlock, after }) => `${firstBlock}-${lastBlock} after ${after}`,
  );

it('asks for unknown blocks from the first entry on, and for known ones behind what is known', () => {
  expect(missing([], 5, 9, 3)).toEqual(['5-9 after -1']);
  const known = [part(0, 9, 3), part(10, 19, 3), part(30, 39, 7)];
  expect(missing(known, 5, 35, 7)).toEqual(['5-19 after 3', '20-29 after -1']);
  expect(missing(known, 30, 39, 7)).toEqual([]);
  expect(missing(known, 30, 39, 9)).toEqual(['30-39 after 7']);
});

it('keeps what is known of other blocks', () => {
  const known = withPart([part(0, 99, 3)], { firstBlock: 20, lastBlock: 29 }, 5);
  expect(known).toEqual([part(0, 19, 3), part(20, 29, 5), part(30, 99, 3)]);
  expect(withPart(known, { firstBlock: 0, lastBlock: 19 }, 5)).toEqual([part(0, 29, 5), part(30, 99, 3)]);
  expect(isWhole(known)).toBe(false);
  expect(isWhole(withPart(known, ALL_BLOCKS, 6))).toBe(true);
  expect(isWhole([])).toBe(false);
});
