/** Proofs of a block by other people's code: @ethereumjs for RLP and tries, noble for keccak. */
import { MerklePatriciaTrie } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { expect } from 'vitest';
import { encodeReceipt } from '../encode-receipt.js';
import { encodeTransaction } from '../encode-transaction.js';
import type { RpcBlock, RpcReceipt, RpcTrace } from '../recorded-block.js';
import { readValue, type ServedBlock } from '../served-chain.js';

const FIELDS =
  'parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty! number! gasLimit! gasUsed! timestamp! extraData mixHash nonce baseFeePerGas! withdrawalsRoot blobGasUsed! excessBlobGas! parentBeaconBlockRoot requestsHash';

/** keccak(RLP(header)). */
function oracleHash(block: RpcBlock): string {
  const values: unknown[] = [];
  for (const field of FIELDS.split(' ')) {
    const value = block[field.replace('!', '')];
    if (value !== undefined) values.push(field.endsWith('!') ? BigInt(value as string) : value);
  }
  return hex(keccak_256(RLP.encode(values as never)));
}

/** Root of the trie of `values` by position. */
export async function oracleRoot(values: readonly Uint8Array[]): Promise<string> {
  const trie = new MerklePatriciaTrie();
  for (const [index, value] of values.entries()) await trie.put(RLP.encode(index), value);
  return hex(trie.root());
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

/** What a block is served as, parsed. */
export function servedValues(block: ServedBlock): {
  block: RpcBlock;
  receipts?: RpcReceipt[];
  traces?: RpcTrace[];
} {
  return {
    block: readValue(block, 'block') as RpcBlock,
    receipts: readValue(block, 'receipts') as RpcReceipt[],
    traces: readValue(block, 'traces') as RpcTrace[],
  };
}

/** Checks a block's hash, roots and links, and that everything in it names it. */
export async function expectProved({
  block,
  receipts,
  traces,
}: ReturnType<typeof servedValues>): Promise<void> {
  expect(oracleHash(block), `hash of block ${Number(block.number)}`).toBe(block.hash);
  const encoded = block.transactions.map((transaction) => encodeTransaction(transaction) as Uint8Array);
  expect(encoded.map((bytes) => hex(keccak_256(bytes)))).toEqual(block.transactions.map(({ hash }) => hash));
  expect(await oracleRoot(encoded)).toBe(block.transactionsRoot);
  for (const transaction of block.transactions) expectPlace(transaction, block);
  if (receipts !== undefined) {
    expect(await oracleRoot(receipts.map(encodeReceipt))).toBe(block.receiptsRoot);
    expect(receipts.map(({ transactionHash }) => transactionHash)).toEqual(
      block.transactions.map(({ hash }) => hash),
    );
    expect(hex(getBloom(receipts))).toBe(block.logsBloom);
    for (const receipt of receipts) {
      expectPlace(receipt, block);
      for (const log of receipt.logs) {
        expectPlace(log, block);
        expect(log.transactionHash).toBe(receipt.transactionHash);
      }
    }
  }
  for (const trace of traces ?? []) {
    expect([trace.blockHash, Number(trace.blockNumber)]).toEqual([block.hash, Number(block.number)]);
    if (trace.transactionPosition != null) {
      expect(trace.transactionHash).toBe(block.transactions[trace.transactionPosition]?.hash);
    }
  }
}

function expectPlace(item: Record<string, unknown>, block: RpcBlock): void {
  expect([item.blockHash, item.blockNumber]).toEqual([block.hash, block.number]);
}

/** Bits are set one by one from each address and topic. */
function getBloom(receipts: readonly RpcReceipt[]): Uint8Array {
  const bloom = new Uint8Array(256);
  const entries = new Set(
    receipts.flatMap(({ logs }) => logs.flatMap((log) => [log.address, ...log.topics])),
  );
  for (const entry of entries) {
    const hash = keccak_256(Buffer.from(entry.slice(2), 'hex'));
    for (const at of [0, 2, 4]) {
      const bit = (((hash[at] as number) << 8) + (hash[at + 1] as number)) % 2048;
      bloom[255 - Math.floor(bit / 8)]! |= 1 << (bit % 8);
    }
  }
  return bloom;
}
