import { RLP } from '@ethereumjs/rlp';
import { expect, test } from 'vitest';
import { blockSize, resizedBlock } from './block-size.js';

function sized(header: number, transaction: number): number {
  return RLP.encode([[new Uint8Array(header)], [new Uint8Array(transaction).fill(1)], []]).length;
}

test('the size is the length of the RLP of the block', () => {
  for (const length of [0, 2, 54, 55, 56, 255, 256, 65_000, 65_600]) {
    const transactions = RLP.encode(new Uint8Array(length).fill(1)).length;
    const header = RLP.encode([new Uint8Array(500)]).length;
    expect(blockSize({ header, transactions })).toBe(sized(500, length));
  }
});

test('a longer header makes the block longer, the list around it too where it passes a power of 256', () => {
  for (const length of [100, 64_990, 65_010, 65_015, 65_020, 65_030, 65_100]) {
    expect(resizedBlock(sized(500, length), 3)).toBe(sized(503, length));
    expect(resizedBlock(sized(503, length), -3)).toBe(sized(500, length));
  }
});
