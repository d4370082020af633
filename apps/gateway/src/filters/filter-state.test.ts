import { describe, expect, it } from 'vitest';
import type { ToldBlock } from './filter-state.js';
import { remembered } from './filter-state.js';

const block = (number: number, ...logs: string[]): ToldBlock => ({ number, hash: `0x${number}`, logs });
const numbers = (blocks: ToldBlock[]): number[] => blocks.map(({ number }) => number);

describe('of what a filter told, is remembered', () => {
  it('what is not final, and the last block in any case', () => {
    const told = [1, 2, 3, 4].map((number) => block(number, 'log'));
    expect(remembered(told, -1)).toEqual(told);
    expect(numbers(remembered(told, 2))).toEqual([3, 4]);
    expect(numbers(remembered(told, 9))).toEqual([4]);
  });

  it('no more than 128 blocks', () => {
    const told = Array.from({ length: 200 }, (_, number) => block(number));
    expect(numbers(remembered(told, -1))).toEqual(numbers(told.slice(72)));
  });

  it('no more than 16 KiB of logs: of the newest blocks, without a gap', () => {
    const told = [block(1, 'x'), block(2, 'x'.repeat(9_000)), block(3, 'x'.repeat(9_000)), block(4, 'x')];
    const kept = remembered(told, -1);
    expect(kept.map(({ logs }) => logs?.length)).toEqual([undefined, undefined, 1, 1]);
    expect(numbers(kept)).toEqual([1, 2, 3, 4]);
  });
});
