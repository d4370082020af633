import { describe, expect, it } from 'vitest';
import type { ToldBlock } from './filter-state.js';
import { remembered, settled } from './filter-state.js';

const block = (number: number, packed: string): ToldBlock => ({
  number,
  hash: `0x${number}`,
  count: 1,
  packed,
});
const numbers = (blocks: readonly ToldBlock[]): number[] => blocks.map(({ number }) => number);

describe('of what a filter told, is remembered', () => {
  it('what is not final and the block below it, and the last block in any case', () => {
    const told = [1, 2, 3, 4].map((number) => block(number, 'log'));
    expect(remembered(told, -1)).toEqual(told);
    expect(numbers(remembered(told, 2))).toEqual([2, 3, 4]);
    expect(numbers(remembered(told, 9))).toEqual([4]);
  });

  it('no more than 128 blocks, except what may not have been delivered', () => {
    const told = Array.from({ length: 200 }, (_, number) => block(number, ''));
    expect(numbers(remembered(told, -1))).toEqual(numbers(told.slice(72)));
    expect(numbers(remembered(told, 300, 50))).toEqual(numbers(told.slice(50)));
    const undelivered = { from: 50, undone: [], until: 0 };
    const state = { type: 'blocks' as const, told, undelivered };
    expect(settled(state, -1)).toEqual({ type: 'blocks', told: told.slice(72) });
  });

  it('no more than 32 KiB of logs: of the newest blocks, without a gap', () => {
    const told = [block(1, 'x'), block(2, 'x'.repeat(17_000)), block(3, 'x'.repeat(17_000)), block(4, 'x')];
    const kept = remembered(told, -1);
    expect(kept.map(({ packed }) => packed?.length)).toEqual([undefined, undefined, 17_000, 1]);
    expect(kept.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
    expect(numbers(kept)).toEqual([1, 2, 3, 4]);
  });
});
