import { ALL } from '@packhouse/recordings';
import { describe, expect, test } from 'vitest';
import { encodeReceipt } from './encode-receipt.js';
import { encodeTransaction } from './encode-transaction.js';
import { headerHash } from './header-hash.js';
import { keccak, toData } from './hex.js';
import { orderedTrieRoot } from './ordered-trie-root.js';
import type { RecordedBlock } from './recorded-block.js';

const ZERO = `0x${'0'.repeat(64)}`;

test("mainnet's genesis header hashes to its hash", () => {
  const genesis = {
    parentHash: ZERO,
    sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
    miner: `0x${'0'.repeat(40)}`,
    stateRoot: '0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544',
    transactionsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
    receiptsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
    logsBloom: `0x${'0'.repeat(512)}`,
    difficulty: '0x400000000',
    number: '0x0',
    gasLimit: '0x1388',
    gasUsed: '0x0',
    timestamp: '0x0',
    extraData: '0x11bbe8db4e347b4e8c937c1c8370e4b5ed33adb3db69cbdb7a38e1e50b1b82fa',
    mixHash: ZERO,
    nonce: '0x0000000000000042',
  };
  expect(toData(headerHash(genesis))).toBe(
    '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
  );
});

describe.each(ALL)('$title, of every fork', (source) => {
  test('headers, transactions and receipts of each give the hashes and roots that the chain has', () => {
    for (const { number, block, receipts } of source.blocks<RecordedBlock>('forks')) {
      expect(toData(headerHash(block)), `header ${number}`).toBe(block.hash);
      const transactions = block.transactions.map((transaction) => encodeTransaction(transaction) as Buffer);
      expect(transactions.map((bytes) => toData(keccak(bytes)))).toEqual(
        block.transactions.map(({ hash }) => hash),
      );
      expect(toData(orderedTrieRoot(transactions)), `transactions of ${number}`).toBe(block.transactionsRoot);
      if (receipts === undefined) continue;
      expect(toData(orderedTrieRoot(receipts.map(encodeReceipt))), `receipts of ${number}`).toBe(
        block.receiptsRoot,
      );
    }
  });
});
