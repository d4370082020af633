import { expect, it } from 'vitest';
import * as nft from './index.js';

it('exports these names and no others', () => {
  expect(Object.keys(nft).sort()).toEqual([
    'JOB_TOKENS',
    'REFRESH_EVERY_MS',
    'createNftWorker',
    'nftPolicy',
    'nftSettings',
    'toNftOptions',
  ]);
});
