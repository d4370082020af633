import { describe, expect, it } from 'vitest';
import { pauseBeforeNextMs } from './block-miner.js';

describe('the pace of the demo chain', () => {
  it('keeps the full pace for 1,200 blocks and slows down from there', () => {
    expect(pauseBeforeNextMs(0, 3_000)).toBe(3_000);
    expect(pauseBeforeNextMs(1_200, 3_000)).toBe(3_000);
    expect(pauseBeforeNextMs(12_000, 3_000)).toBe(30_000);
  });

  it('makes about 8,000 blocks in the first day at 3 s', () => {
    let blocks = 0;
    for (let ms = 0; ms < 86_400_000; blocks++) ms += pauseBeforeNextMs(blocks, 3_000);
    expect(blocks).toBeGreaterThan(7_500);
    expect(blocks).toBeLessThan(8_500);
  });
});
