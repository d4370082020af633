import { describe, expect, it } from 'vitest';
import { POLICY } from '../test/recorded.js';
import { flipped, thrown } from '../test/tamper.js';
import { createProver } from './create-prover.js';

const NOTHING = {
  difficulty: '0x1',
  extDataHash: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  miner: '0x0100000000000000000000000000000000000000',
  mixHash: `0x${'0'.repeat(64)}`,
  nonce: '0x0000000000000000',
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  uncles: [],
};

/** Block 58119344 of the test network, after Helicon. */
const FUJI = {
  ...NOTHING,
  baseFeePerGas: '0xa',
  blobGasUsed: '0x0',
  blockExtraData: '0x',
  blockGasCost: '0x0',
  excessBlobGas: '0x0',
  extDataGasUsed: '0x0',
  extraData: '0x000000000000',
  gasLimit: '0x1e84800',
  gasUsed: '0x5208',
  hash: '0x1247d516b404bd6fdc5851d6a3b46c35a5de2f7f2ab12eae8d2db81dc7e5d6d9',
  logsBloom: `0x${'0'.repeat(512)}`,
  minDelayExcess: '0x6cd69c',
  minPriceExponent: '0xd49a784bcd1b8b0',
  number: '0x376d4b0',
  parentBeaconBlockRoot: `0x${'0'.repeat(64)}`,
  parentHash: '0xe302872603a4b17cccf55382136ce7896c29f456af02d3516e1eed86940644bd',
  receiptsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
  settledExcess: '0x131b81f7',
  settledGasNumerator: '0x83720',
  settledGasUnix: '0x6a971370',
  settledHeight: '0x376d4ae',
  size: '0x2ef',
  stateRoot: '0xbbf0376bd9dc162ccb8fc42ad5cbd43629fdb9a3d8635d3782c90261d8b86e4d',
  targetExponent: '0xf0a451',
  timestamp: '0x6a971378',
  timestampMilliseconds: '0x1a05e240f88',
  totalDifficulty: '0x0',
  transactions: [
    {
      blockHash: '0x1247d516b404bd6fdc5851d6a3b46c35a5de2f7f2ab12eae8d2db81dc7e5d6d9',
      blockNumber: '0x376d4b0',
      from: '0x441ce84e81c9637d5c8fbb16d08efd453a8ae26f',
      gas: '0x5208',
      gasPrice: '0x12a05f2a0',
      hash: '0xc02a8be566e8af3854d08dc6d586f29d4db304d132b045ac2610105e817fa88b',
      input: '0x',
      nonce: '0xcb',
      to: '0x4cf609fc3fd878b34c7ea3d63f732248fd7a5b4c',
      transactionIndex: '0x0',
      value: '0x67f32db876a10',
      type: '0x0',
      chainId: '0xa869',
      v: '0x150f6',
      r: '0x36d2128fd8014d56e3aa1c7ea70d042e5463d801528993e63c7577887eda9de1',
      s: '0x22069e05f879691d2411f7f7105068319e809c7d1d35790104d92ca11f6873fc',
    },
  ],
  transactionsRoot: '0xe45852a5b1cf9215d1397e88fa69a21a47021073bb795e342dfb2f3ec90f3f8d',
};

/** The header of block 5760288 of the C-Chain. */
const C_CHAIN = {
  ...NOTHING,
  baseFeePerGas: '0x5d21dba00',
  blockExtraData: '0x',
  blockGasCost: '0x0',
  extDataGasUsed: '0x0',
  extraData: `0x${'0'.repeat(24)}000a206f${'0'.repeat(24)}0009971e000000000009a8fb00000000000e50a5${'0'.repeat(64)}`,
  gasLimit: '0x7a1200',
  gasUsed: '0x7a1b9',
  hash: '0xec8148b1712a372e6ab418358ed0cf2051a1f04f80e6a4f77f352d2ab2f9338a',
  logsBloom: [
    '0x002004000010200400020000800000004000000000000000204001000000000000000000000000000040',
    '00000080010000000000200000002000000000200000000080000200000000004008410000220040000000',
    '40000000000000000000000000000002000400000000010002480001000000000084000000003080000400',
    '00000000000100000000020080000000000000801000100800040040000008100200000020000000020000',
    '00000000008080000000000000000001000000010040100802010020001008000000000000000000000000',
    '001420000002000020000010141000000000000000001008000800002008000000200000000000000000',
  ].join(''),
  number: '0x57e520',
  parentHash: '0x7dc8ef36dbac74134798b78406ccce73f926b35a7d11ca22029672bd9d84cd3d',
  receiptsRoot: '0x8b2a08f91826aa3201bbf866a8588080dde8aaeb448caf9c6035b5c0b8f593b1',
  size: '0x8f2',
  stateRoot: '0xfb149ac2f5fc1d9159964d9de2e1ae30b3608273fff78fcc8fb15c1b76a47625',
  timestamp: '0x616c6f77',
  totalDifficulty: '0x57e520',
  transactions: [],
  transactionsRoot: '0x002cb0567dccea3f36059008cbf1dd5d25a52bbf4abde4eb4b58db9a26cd2ca4',
};

describe('a real block of Avalanche', () => {
  it('has the hash of its own header', async () => {
    const prover = await createProver({
      ...POLICY,
      chainId: 43_114,
      transactions: 'trust',
      receipts: 'trust',
    });
    expect(prover.proveBlock({ block: C_CHAIN }).proofs).toEqual(['headerHash']);
    for (const field of ['extDataHash', 'extDataGasUsed', 'blockGasCost'] as const) {
      const block = { ...C_CHAIN, [field]: flipped(C_CHAIN[field]) };
      expect(
        thrown(() => prover.proveBlock({ block })),
        field,
      ).toMatchObject({ data: { proof: 'headerHash' } });
    }
  });

  it('since Helicon has the receipts of other blocks in its header', async () => {
    const prover = await createProver({ ...POLICY, chainId: 43_113, senders: 'all' });
    const { proofs, notProved, unknownFields } = prover.proveBlock({ block: FUJI });
    expect(proofs).toEqual(
      expect.arrayContaining(['headerHash', 'transactionsRoot', 'consistency', 'senders']),
    );
    expect(notProved.map(({ proof }) => proof)).toEqual([
      'receiptsRoot',
      'logsBloom',
      // prices, and the size
      'consistency',
      'consistency',
    ]);
    expect(unknownFields).toEqual([]);
    for (const field of ['targetExponent', 'settledHeight', 'settledExcess', 'minDelayExcess'] as const) {
      const block = { ...FUJI, [field]: flipped(FUJI[field]) };
      expect(
        thrown(() => prover.proveBlock({ block })),
        field,
      ).toMatchObject({ data: { proof: 'headerHash' } });
    }
  });
});
