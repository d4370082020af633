import type { Random } from './random.js';

/** Fields that only some types have, each with what it could be. */
export const OF_TYPES: Readonly<Record<string, (random: Random) => unknown>> = {
  accessList: (random) => [{ address: random.data(20), storageKeys: [random.data(32)] }],
  maxFeePerGas: (random) => random.quantity(40),
  maxPriorityFeePerGas: (random) => random.quantity(40),
  maxFeePerBlobGas: (random) => random.quantity(40),
  blobVersionedHashes: (random) => [random.data(32)],
  authorizationList: (random) => [
    { address: random.data(20), chainId: '0x1', nonce: '0x0', r: '0x1', s: '0x2', yParity: '0x0' },
  ],
  sourceHash: (random) => random.data(32),
  mint: (random) => random.quantity(40),
  isSystemTx: (random) => random.oneIn(2),
  depositReceiptVersion: () => '0x1',
  yParity: (random) => random.pick(['0x0', '0x1', '0x1b']),
};
