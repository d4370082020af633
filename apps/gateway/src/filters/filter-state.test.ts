import { describe, expect, it } from 'vitest';
import type { ReportedBlock } from './filter-state.js';
import { keepRecent, markDelivered } from './filter-state.js';

const block = (number: number, packed: string): ReportedBlock => ({
  number,
  hash: `0x${number}`,
  count: 1,
  packed,
});
const numbers = (blocks: readonly ReportedBlock[]): number[] => blocks.map(({ number }) => number);

describe('reported blocks that are kept', () => {
  it('what is not final and the block below it, and the last block in any case', () => {
    const reported = [1, 2, 3, 4].map((number) => block(number, 'log'));
    expect(keepRecent(reported, -1)).toEqual(reported);
    expect(numbers(keepRecent(reported, 2))).toEqual([2, 3, 4]);
    expect(numbers(keepRecent(reported, 9))).toEqual([4]);
  });

  it('no more than 128 blocks, except what may not have been delivered', () => {
    const reported = Array.from({ length: 200 }, (_, number) => block(number, ''));
    expect(numbers(keepRecent(reported, -1))).toEqual(numbers(reported.slice(72)));
    expect(numbers(keepRecent(reported, 300, 50))).toEqual(numbers(reported.slice(50)));
    const undelivered = { from: 50, removed: [], until: 0 };
    const state = { type: 'blocks' as const, reported, undelivered };
    expect(markDelivered(state, -1)).toEqual({ type: 'blocks', reported: reported.slice(72) });
  });

  it('no more than 32 KiB of logs: of the newest blocks, without a gap', () => {
    const reported = [
      block(1, 'x'),
      block(2, 'x'.repeat(17_000)),
      block(3, 'x'.repeat(17_000)),
      block(4, 'x'),
    ];
    const kept = keepRecent(reported, -1);
    expect(kept.map(({ packed }) => packed?.length)).toEqual([undefined, undefined, 17_000, 1]);
    expect(kept.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
    expect(numbers(kept)).toEqual([1, 2, 3, 4]);
  });
});
