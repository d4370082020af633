import { type GeneratedTransaction, HASH_TO_COME } from './generate-transaction.js';
import { toData, toQuantity } from './hex.js';
import { type BloomBits, createLogsBloom } from './logs-bloom.js';
import type { Random } from './random.js';
import type { RpcLog, RpcReceipt, RpcTrace } from './recorded-block.js';
import { addressWord, randomWord, type SyntheticWorld } from './synthetic-world.js';

/** What the receipts of a block so far add up to. */
interface ReceiptTotals {
  cumulativeGas: number;
  logs: number;
}

/** Generates the receipt of a transaction with logs of the contracts that it called, counting it into `totals`. */
export function generateReceipt(
  random: Random,
  world: SyntheticWorld,
  generated: GeneratedTransaction,
  traces: readonly RpcTrace[],
  totals: ReceiptTotals,
  known: BloomBits,
  meanLogs: number,
): RpcReceipt {
  const { transaction, kind, fails, gasUsed } = generated;
  const { blockNumber, from, to, hash, transactionIndex, type } = transaction;
  const bloom = createLogsBloom(known);
  const called = traces.filter(({ action }) => action.callType === 'call').map(({ action }) => action.to);
  const count = kind === 'call' && !fails ? random.geometric(meanLogs) : 0;
  const logs = Array.from({ length: count }, () => {
    const log: RpcLog = {
      ...generateLog(random, world, String(random.pick(called)), [from, to]),
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
    contractAddress: generated.contractAddress,
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
  address: string,
  parties: readonly unknown[],
): Pick<RpcLog, 'address' | 'topics' | 'data'> {
  const topics = [random.pick(world.events.get(address) as string[])];
  const indexed = random.int(4);
  while (topics.length <= indexed) {
    const party = random.chance(0.75) ? random.pick(parties) : random.zipf(world.contracts).address;
    topics.push(`0x${addressWord(String(party))}`);
  }
  const words = Array.from({ length: random.chance(0.7) ? 1 : 1 + random.geometric(3) }, () =>
    random.chance(0.7) ? random.zipf(world.words) : randomWord(random),
  );
  return { address, topics, data: `0x${words.join('')}` };
}
