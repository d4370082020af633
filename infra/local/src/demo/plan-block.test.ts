import { describe, expect, it } from 'vitest';
import { CONTRACTS, type ContractAddresses } from './contracts.js';
import { planBlock } from './plan-block.js';

const address = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
const cast = {
  people: [1, 2, 3, 4].map(address),
  blobSender: address(5),
  contracts: Object.fromEntries(
    Object.keys(CONTRACTS).map((name, index) => [name, address(100 + index)]),
  ) as ContractAddresses,
};
const HISTORY = 240;
const plan = (number: number) => planBlock(number, cast, HISTORY);

describe('planBlock', () => {
  it('plans the same block for the same number, and another one for another', () => {
    for (const number of [3, 7, 120, 5_000]) expect(plan(number)).toEqual(plan(number));
    expect(plan(7)).not.toEqual(plan(8));
  });

  it('plans 5 to 30 transactions, a hundred now and then, none now and then', () => {
    const counts = Array.from({ length: HISTORY - 5 }, (_, index) => plan(index + 5).length);
    expect(new Set(counts.filter((count) => count === 0 || count === 100))).toEqual(new Set([0, 100]));
    for (const count of counts) {
      expect(count === 0 || count === 100 || (count >= 5 && count <= 30)).toBe(true);
    }
  });

  it('plans light blocks behind the history, some of them empty', () => {
    const counts = Array.from({ length: 200 }, (_, index) => plan(HISTORY + 1 + index).length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(8);
    expect(counts).toContain(0);
  });

  it('lets only the blob sender send blobs, and nothing else', () => {
    for (let number = 2; number < 400; number++) {
      for (const { type, from, to } of plan(number)) {
        expect(from === cast.blobSender).toBe(type === 3);
        if (type >= 3) expect(to).toBeDefined();
      }
    }
  });
});
