import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3';
import type { Json } from '@packhouse/recordings';

const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
/** The bloom of no logs. */
export const NO_BLOOM = `0x${'0'.repeat(512)}`;
/** DATA of 32 bytes, all of one digit. */
export const word = (digit: string) => `0x${digit.repeat(64)}`;
/** An address, all of one digit. */
export const address = (digit: string) => `0x${digit.repeat(40)}`;
/** keccak by another library than ours. */
export const getHash = (bytes: Uint8Array) => `0x${Buffer.from(keccak_256(bytes)).toString('hex')}`;

/** DATA, as the other library takes it. */
export const d = (hex: unknown) => Buffer.from(String(hex).slice(2), 'hex');
/** A QUANTITY, as the other library takes it. */
export const q = (hex: unknown) => BigInt(String(hex));

/** Root of a trie by another library than ours. */
export async function getRoot(items: readonly Uint8Array[]): Promise<string> {
  const trie = await createMPT();
  for (const [index, item] of items.entries()) await trie.put(RLP.encode(index), item);
  return `0x${Buffer.from(trie.root()).toString('hex')}`;
}

/** A block without transactions and without its hash. */
export const BASE: Json = {
  number: '0x10',
  parentHash: word('1'),
  nonce: '0x0000000000000000',
  sha3Uncles: NO_UNCLES,
  logsBloom: NO_BLOOM,
  transactionsRoot: EMPTY_ROOT,
  stateRoot: word('2'),
  receiptsRoot: EMPTY_ROOT,
  miner: address('3'),
  mixHash: word('0'),
  difficulty: '0x0',
  extraData: '0x',
  size: '0x1',
  gasLimit: '0x1000000',
  gasUsed: '0x0',
  timestamp: '0x60000000',
  uncles: [],
};

/** The items of a header up to its nonce. */
export const getHeader = (b: Json) => [
  d(b.parentHash),
  d(b.sha3Uncles),
  d(b.miner),
  d(b.stateRoot),
  d(b.transactionsRoot),
  d(b.receiptsRoot),
  d(b.logsBloom),
  q(b.difficulty),
  q(b.number),
  q(b.gasLimit),
  q(b.gasUsed),
  q(b.timestamp),
  d(b.extraData),
  d(b.mixHash),
  d(b.nonce),
];

/** A block whose header is right, with these transactions and receipts of no gas and no logs. */
export async function getBlock(
  transactions: readonly [tx: Json, encoded: Uint8Array | null][],
  more: Json = {},
) {
  const encoded = transactions.flatMap(([, bytes]) => (bytes === null ? [] : [bytes]));
  const receipt = RLP.encode([1n, 0n, d(NO_BLOOM), []]);
  const receipts = transactions.flatMap(([{ type }, bytes]) => {
    if (bytes === null) return [];
    return [type === '0x0' ? receipt : Buffer.concat([Buffer.from([Number(type)]), receipt])];
  });
  const block: Json = {
    ...BASE,
    ...more,
    transactionsRoot: await getRoot(encoded),
    receiptsRoot: await getRoot(receipts),
  };
  const hash = getHash(RLP.encode(getHeader(block)));
  const place = (index: number) => ({
    blockHash: hash,
    blockNumber: block.number,
    transactionIndex: `0x${index.toString(16)}`,
  });
  block.hash = hash;
  block.transactions = transactions.map(([tx], index) => ({ ...tx, ...place(index) }));
  return {
    block: block as Json & { transactions: Json[] },
    receipts: transactions.map(([tx], index) => ({
      ...place(index),
      transactionHash: tx.hash,
      from: tx.from,
      to: tx.to,
      cumulativeGasUsed: '0x0',
      gasUsed: '0x0',
      contractAddress: null,
      logs: [],
      logsBloom: NO_BLOOM,
      type: tx.type,
      status: '0x1',
    })),
  };
}
