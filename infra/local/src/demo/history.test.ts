import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MerklePatriciaTrie } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoNetwork } from './block-miner.js';
import { startDemoChain } from './demo-chain.js';
import { createJsonRpc, type JsonRpc } from './json-rpc.js';
import { quantity } from './transaction.js';

const HISTORY = 20;
const topic = (event: string) => `0x${Buffer.from(keccak_256(event)).toString('hex')}`;
const TRANSFER = topic('Transfer(address,address,uint256)');
const APPROVAL = topic('Approval(address,address,uint256)');

interface Transaction {
  type: string;
  hash: string;
  gasPrice: string;
  blobVersionedHashes?: string[];
}
interface Receipt {
  status: string;
  contractAddress: string | null;
  transactionHash: string;
  logs: { address: string; topics: string[]; data: string }[];
}
interface Trace {
  type: string;
  error?: string;
  traceAddress: number[];
  action: { callType?: string };
  result?: { output?: string };
  transactionHash: string;
}
interface Block {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  transactionsRoot: string;
  transactions: Transaction[];
}

let folder: string;
let chain: Awaited<ReturnType<typeof startDemoChain>>;
let rpc: JsonRpc;
const blocks: Block[] = [];
const receipts: Receipt[] = [];
const traces: Trace[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-demo-'));
  chain = await startDemoChain({ directory: folder, historyBlocks: HISTORY, intervalMs: 1_000_000 });
  rpc = createJsonRpc(chain.url);
  for (let number = 0; number <= HISTORY; number++) {
    const block = (await rpc.call('eth_getBlockByNumber', quantity(number), true)) as Block;
    blocks.push(block);
    receipts.push(...((await rpc.call('eth_getBlockReceipts', block.hash)) as Receipt[]));
    traces.push(...((await rpc.call('trace_block', quantity(number))) as Trace[]));
  }
});
afterAll(async () => {
  await rpc.close();
  await chain.stop();
  await rm(folder, { recursive: true });
});

const transactions = () => blocks.flatMap((block) => block.transactions);
const logs = () => receipts.flatMap((receipt) => receipt.logs);

describe('the history of the demo chain', () => {
  it('is there when the start resolves, twelve seconds a block, on the chain id of the demo network', async () => {
    expect([chain.historyHead, chain.head]).toEqual([HISTORY, HISTORY]);
    expect(Number(await rpc.call('eth_chainId'))).toBe(demoNetwork.chainId);
    expect(blocks.map((block) => Number(block.timestamp) - Number(blocks[0]!.timestamp))).toEqual(
      blocks.map((_, number) => 12 * number),
    );
    for (const [index, block] of blocks.slice(1).entries())
      expect(block.parentHash).toBe(blocks[index]!.hash);
  });

  it('is final two blocks behind the head', async () => {
    const block = (await rpc.call('eth_getBlockByNumber', 'finalized', false)) as Block;
    expect(Number(block.number)).toBe(HISTORY - demoNetwork.finality.depth);
  });

  it.each(['0x0', '0x1', '0x2', '0x3', '0x4'])('has transactions of type %s that worked', (type) => {
    const hashes = new Set(
      transactions()
        .filter((one) => one.type === type)
        .map((one) => one.hash),
    );
    expect(receipts.filter((one) => hashes.has(one.transactionHash) && one.status === '0x1')).not.toEqual([]);
  });

  it('has blob transactions as they stand in a block: with hashes and without blobs', async () => {
    const blobs = transactions().filter((one) => one.type === '0x3');
    for (const one of blobs) {
      expect(one.blobVersionedHashes).toEqual([
        expect.stringMatching(/^0x01/),
        ...one.blobVersionedHashes!.slice(1),
      ]);
      expect(one).not.toHaveProperty('blobs');
    }
    // The root over the results of eth_getRawTransaction must be the header's, as for any Ethereum block.
    const block = blocks[3]!;
    const trie = new MerklePatriciaTrie();
    for (const [index, one] of block.transactions.entries()) {
      const raw = (await rpc.call('eth_getRawTransactionByHash', one.hash)) as string;
      await trie.put(RLP.encode(index), Buffer.from(raw.slice(2), 'hex'));
    }
    expect(`0x${Buffer.from(trie.root()).toString('hex')}`).toBe(block.transactionsRoot);
  });

  it('has set-code transactions of which some left a delegation', async () => {
    const dump = (await rpc.call('anvil_dumpState')) as string;
    const { gunzipSync } = await import('node:zlib');
    const state = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString()) as {
      accounts: Record<string, { code: string }>;
    };
    // EIP-7702: the code of a delegated account is 0xef0100 and an address.
    expect(Object.values(state.accounts).filter(({ code }) => code.startsWith('0xef0100'))).not.toEqual([]);
  });

  it('has ERC-20 transfers and approvals: three topics and an amount', () => {
    for (const topic of [TRANSFER, APPROVAL]) {
      const found = logs().filter((log) => log.topics[0] === topic && log.topics.length === 3);
      expect(found).not.toEqual([]);
      for (const log of found) expect(log.data).toMatch(/^0x[0-9a-f]{64}$/);
    }
  });

  it('has ERC-721 transfers: four topics and no data', () => {
    const found = logs().filter((log) => log.topics[0] === TRANSFER && log.topics.length === 4);
    expect(found).not.toEqual([]);
    for (const log of found) expect(log.data).toBe('0x');
  });

  it('has logs of no topic and of two', () => {
    expect(new Set(logs().map((log) => log.topics.length))).toEqual(new Set([0, 2, 3, 4]));
  });

  it('has creations by transactions and by contracts, some of which failed', () => {
    expect(receipts.filter((one) => one.contractAddress !== null && one.status === '0x1')).not.toEqual([]);
    const created = traces.filter((trace) => trace.type === 'create');
    expect(created.filter((trace) => trace.traceAddress.length === 0)).not.toEqual([]);
    expect(created.filter((trace) => trace.traceAddress.length > 0)).not.toEqual([]);
  });

  it('has nested calls of every kind', () => {
    const kinds = traces
      .filter((trace) => trace.traceAddress.length > 0)
      .map((trace) => trace.action.callType);
    for (const kind of ['call', 'delegatecall', 'staticcall']) expect(kinds).toContain(kind);
    expect(Math.max(...traces.map((trace) => trace.traceAddress.length))).toBeGreaterThanOrEqual(2);
  });

  it('has contracts that destroy themselves', () => {
    expect(traces.filter((trace) => trace.type === 'suicide')).not.toEqual([]);
  });

  it('has transactions that failed in every way, and failures inside of ones that worked', () => {
    expect(receipts.filter((one) => one.status === '0x0').length).toBeGreaterThan(5);
    const errors = new Set(traces.map((trace) => trace.error));
    for (const error of ['Reverted', 'Out of gas', 'Bad instruction']) expect(errors).toContain(error);
    const worked = new Set(receipts.filter((one) => one.status === '0x1').map((one) => one.transactionHash));
    expect(
      traces.filter((trace) => trace.error !== undefined && worked.has(trace.transactionHash)),
    ).not.toEqual([]);
  });

  it('gives the reason of a revert as Error(string)', async () => {
    const to = logs().find((log) => log.topics.length === 4)!.address;
    const reason = rpc.call('eth_call', { to, data: `0x23b872dd${'7'.repeat(192)}` }, 'latest');
    await expect(reason).rejects.toThrow(/execution reverted: not the owner of this number/);
  });

  it('has empty blocks', () => {
    expect(blocks.slice(1).filter((block) => block.transactions.length === 0).length).toBeGreaterThan(1);
  });

  it('holds each block in the planned order, which is that of falling fees', () => {
    const legacy = blocks.map((block) => block.transactions.filter((one) => one.type <= '0x1'));
    for (const ones of legacy) {
      const prices = ones.map((one) => Number(one.gasPrice));
      expect(prices).toEqual(prices.toSorted((a, b) => b - a));
    }
  });
});
