import { ALL } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { getBlobPrice } from './blob-price.js';

describe('the price of blobs', () => {
  it.each([
    // Of every fork, two of real blocks, and the last second before the next.
    [1, 1_710_338_134, '0x3040000', undefined],
    [1, 1_710_338_135, '0x0', '0x1'],
    [1, 1_746_612_310, '0x3040000', '0x3a3ad4'],
    [1, 1_746_612_311, '0x3020000', '0x5ced'],
    [1, 1_765_290_071, '0x3020000', '0x1a6'],
    [1, 1_767_747_671, '0x3020000', undefined],
    [560_048, 0, '0x0', '0x1'],
    [100, 1_746_612_311, '0x0', undefined],
    [undefined, 1_746_612_311, '0x0', undefined],
    [1, 1_746_612_311, undefined, undefined],
    // More than that nobody would wait for.
    [1, 1_746_612_311, `0x${'f'.repeat(64)}`, undefined],
  ])('of chain %s at %i with an excess of %s', (chainId, time, excessBlobGas, price) => {
    const timestamp = `0x${time.toString(16)}`;
    expect(getBlobPrice(chainId, { excessBlobGas, timestamp })).toEqual(price);
  });

  it.each(ALL)('is that of all receipts in $title', (source) => {
    let count = 0;
    for (const { block, receipts } of source.blocks('forks'))
      for (const { blobGasPrice } of receipts ?? []) {
        if (blobGasPrice === undefined) continue;
        expect(getBlobPrice(1, block as never)).toBe(blobGasPrice);
        count++;
      }
    expect(count).toBeGreaterThanOrEqual(4);
  });
});
