import { type GeneratedTransaction, HASH_TO_COME } from './generate-transaction.js';
import { dataBytes, keccak, quantityBytes, toData, toQuantity } from './hex.js';
import { type BloomBits, createLogsBloom } from './logs-bloom.js';
import type { Random } from './random.js';
import type { RpcLog, RpcReceipt } from './recorded-block.js';
import { encodeRlp } from './rlp.js';
import { addressWord, randomWord, type SyntheticWorld } from './synthetic-world.js';

/** What the receipts of a block so far add up to. */
interface ReceiptTotals {
  cumulativeGas: number;
  logs: number;
}

/** Generates the receipt of a transaction, counting it into `totals`. */
export function generateReceipt(
  random: Random,
  world: SyntheticWorld,
  generated: GeneratedTransaction,
  totals: ReceiptTotals,
  known: BloomBits,
  meanLogs: number,
): RpcReceipt {
  const { transaction, kind, fails, gasUsed } = generated;
  const { blockNumber, from, to, hash, transactionIndex, type } = transaction;
  const bloom = createLogsBloom(known);
  const count = kind === 'call' && !fails ? random.geometric(meanLogs) : 0;
  const logs = Array.from({ length: count }, () => {
    const log: RpcLog = {
      ...generateLog(random, world, [from, to]),
      blockNumber,
      transactionHash: hash,
      transactionIndex,
      blockHash: HASH_TO_COME,
      logIndex: toQuantity(totals.logs++),
      removed: false,
    };
    bloom.addLog(log);
    return log;
  });
  totals.cumulativeGas += gasUsed;
  return {
    blockHash: HASH_TO_COME,
    blockNumber,
    contractAddress: kind === 'creation' ? createdAddress(from, transaction.nonce) : null,
    cumulativeGasUsed: toQuantity(totals.cumulativeGas),
    effectiveGasPrice: transaction.gasPrice,
    from,
    gasUsed: toQuantity(gasUsed),
    logs,
    logsBloom: toData(bloom.bytes),
    status: fails ? '0x0' : '0x1',
    to,
    transactionHash: hash,
    transactionIndex,
    type,
  };
}

/** Events mostly tell of those who take part, and of amounts that were told before. */
function generateLog(
  random: Random,
  world: SyntheticWorld,
  parties: readonly unknown[],
): Pick<RpcLog, 'address' | 'topics' | 'data'> {
  const contract = random.zipf(world.contracts);
  const topics = [random.pick(contract.events)];
  const indexed = random.int(4);
  while (topics.length <= indexed) {
    const party = random.chance(0.75) ? random.pick(parties) : random.zipf(world.contracts).address;
    topics.push(`0x${addressWord(String(party))}`);
  }
  const words = Array.from({ length: random.chance(0.7) ? 1 : 1 + random.geometric(3) }, () =>
    random.chance(0.7) ? random.zipf(world.words) : randomWord(random),
  );
  return { address: contract.address, topics, data: `0x${words.join('')}` };
}

/** Address of a contract that a transaction creates (Yellow Paper 7): the end of keccak(RLP([sender, nonce])). */
function createdAddress(from: unknown, nonce: unknown): string {
  return toData(keccak(encodeRlp([dataBytes(from), quantityBytes(nonce)])).subarray(12));
}
