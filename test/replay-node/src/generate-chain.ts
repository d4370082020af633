import { blockSize } from './block-size.js';
import { encodeReceipt } from './encode-receipt.js';
import { encodeTransaction } from './encode-transaction.js';
import { generateReceipt } from './generate-receipt.js';
import { generateTraces } from './generate-traces.js';
import { type GeneratedTransaction, generateTransaction } from './generate-transaction.js';
import { encodeHeader } from './header-hash.js';
import { dataBytes, keccak, quantityBytes, toData, toQuantity } from './hex.js';
import { type BloomBits, createLogsBloom } from './logs-bloom.js';
import { orderedTrieRoot } from './ordered-trie-root.js';
import { createRandom, type Random } from './random.js';
import type { RecordedBlock, RpcBlock, RpcReceipt, RpcTrace } from './recorded-block.js';
import { encodeRlp } from './rlp.js';
import { createWorld, randomAddress, type SyntheticWorld } from './synthetic-world.js';

/** What is generated. The defaults give blocks of mainnet's size and compressibility in 2023, about 2 MB of answers each. */
interface GenerateChainOptions {
  length: number;
  /** Default 1. */
  startNumber?: number;
  /** Default 1; the same seed gives the same chain. */
  seed?: number;
  /** Default 150; varies by a third from block to block. */
  txsPerBlock?: number;
  /** Mean over all transactions; default 2.3. */
  logsPerTx?: number;
  /** Mean over all transactions; default 5.5. */
  tracesPerTx?: number;
  /** The chain that transactions are signed for; default 1. */
  chainId?: number;
  /** The block that the chain grows from; default: none, the first parent hash is made up. */
  after?: { number: number; hash: string; timestamp: number };
}

interface Maker {
  random: Random;
  world: SyntheticWorld;
  known: BloomBits;
  options: GenerateChainOptions;
}

const NO_UNCLES = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
const START_OF_TIME = 1_688_000_000;
/** Transactions that call contracts; only they have logs and subcalls. */
const CALL_SHARE = 0.66;

/** Generates linked blocks with transactions, receipts and traces of which every proof holds. */
export function generateChain(options: GenerateChainOptions): RecordedBlock[] {
  const random = createRandom(options.seed ?? 1);
  const maker: Maker = { random, world: createWorld(random), known: new Map(), options };
  const blocks: RecordedBlock[] = [];
  const start = options.startNumber ?? (options.after === undefined ? 1 : options.after.number + 1);
  let parent = options.after ?? { hash: `0x${random.hex(32)}`, timestamp: START_OF_TIME };
  for (let at = 0; at < options.length; at++) {
    const timestamp = parent.timestamp + 12;
    const made = generateBlock(maker, start + at, parent.hash, timestamp);
    blocks.push(made);
    parent = { hash: made.block.hash, timestamp };
  }
  return blocks;
}

function generateBlock(maker: Maker, number: number, parentHash: string, timestamp: number): RecordedBlock {
  const { random, world, known, options } = maker;
  const { txsPerBlock = 150, logsPerTx = 2.3, tracesPerTx = 5.5, chainId = 1 } = options;
  const place = { chainId, number: toQuantity(number), baseFee: 30_000_000_000n + BigInt(random.int(1e9)) };
  const spread = Math.floor(txsPerBlock / 3);
  const count = txsPerBlock - spread + random.int(2 * spread + 1);
  const generated = Array.from({ length: count }, (_, index) =>
    generateTransaction(random, world, place, index),
  );
  const meanSubcalls = Math.max(0, tracesPerTx - 1) / CALL_SHARE;
  const trees = generated.map((one) => generateTraces(random, world, one, number, meanSubcalls));
  const totals = { cumulativeGas: 0, logs: 0 };
  const meanLogs = logsPerTx / CALL_SHARE;
  const receipts = generated.map((one, at) =>
    generateReceipt(random, world, one, trees[at] as RpcTrace[], totals, known, meanLogs),
  );
  const traces = trees.flat();
  const block = assemble(random, {
    generated,
    receipts,
    parentHash,
    timestamp,
    place,
    gasUsed: totals.cumulativeGas,
  });
  for (const one of [
    ...block.transactions,
    ...receipts,
    ...receipts.flatMap(({ logs }) => logs),
    ...traces,
  ]) {
    one.blockHash = block.hash;
  }
  return { number, block, receipts, traces };
}

interface BlockParts {
  generated: GeneratedTransaction[];
  receipts: RpcReceipt[];
  parentHash: string;
  timestamp: number;
  place: { number: string; baseFee: bigint };
  gasUsed: number;
}

function assemble(random: Random, parts: BlockParts): RpcBlock {
  const transactions = parts.generated.map(({ transaction }) => transaction);
  const encoded = transactions.map((transaction) => encodeTransaction(transaction) as Buffer);
  const bloom = createLogsBloom();
  for (const { logsBloom } of parts.receipts) bloom.addBloom(dataBytes(logsBloom));
  const withdrawals = Array.from({ length: 16 }, (_, at) => ({
    index: toQuantity(Number(parts.place.number) * 16 + at),
    validatorIndex: toQuantity(random.int(600_000)),
    address: randomAddress(random),
    amount: toQuantity(10_000_000 + random.int(5_000_000)),
  }));
  const encodedWithdrawals = withdrawals.map(({ index, validatorIndex, address, amount }) =>
    encodeRlp([
      quantityBytes(index),
      quantityBytes(validatorIndex),
      dataBytes(address),
      quantityBytes(amount),
    ]),
  );
  const block: RpcBlock = {
    baseFeePerGas: toQuantity(parts.place.baseFee),
    difficulty: '0x0',
    extraData: '0x6265617665726275696c642e6f7267',
    gasLimit: toQuantity(Math.max(30_000_000, parts.gasUsed)),
    gasUsed: toQuantity(parts.gasUsed),
    hash: '',
    logsBloom: toData(bloom.bytes),
    miner: randomAddress(random),
    mixHash: `0x${random.hex(32)}`,
    nonce: '0x0000000000000000',
    number: parts.place.number,
    parentHash: parts.parentHash,
    receiptsRoot: toData(orderedTrieRoot(parts.receipts.map(encodeReceipt))),
    sha3Uncles: NO_UNCLES,
    size: '0x0',
    stateRoot: `0x${random.hex(32)}`,
    timestamp: toQuantity(parts.timestamp),
    totalDifficulty: '0xc70d815d562d3cfa955',
    transactions,
    transactionsRoot: toData(orderedTrieRoot(encoded)),
    uncles: [],
    withdrawals,
    withdrawalsRoot: toData(orderedTrieRoot(encodedWithdrawals)),
  };
  const header = encodeHeader(block);
  block.hash = toData(keccak(header));
  const length = (parts: readonly Uint8Array[]): number => parts.reduce((sum, part) => sum + part.length, 0);
  block.size = toQuantity(
    blockSize({
      header: header.length,
      // A transaction that begins with its type stands in the block as a byte string, a legacy one as a list.
      transactions: length(encoded.map((bytes) => ((bytes[0] as number) < 0xc0 ? encodeRlp(bytes) : bytes))),
      withdrawals: length(encodedWithdrawals),
    }),
  );
  return block;
}
