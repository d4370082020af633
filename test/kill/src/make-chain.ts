import { canonicalRecord, type Kind } from '@packhouse/chain';
import {
  extendChain,
  generateChain,
  readValue,
  type ServedBlock,
  type ServedChain,
} from '@packhouse/replay-node';

/** Blocks that are generated; the others repeat them with hashes and transactions of their own. */
const GENERATED = 24;
const FIRST_BLOCK = 1_000;

/** Blocks of some 300 KB of node answers, every proof of which holds. */
export function makeChain(length: number, seed: number): ServedChain {
  const recording = generateChain({
    length: Math.min(length, GENERATED),
    startNumber: FIRST_BLOCK,
    seed,
    txsPerBlock: 24,
    logsPerTx: 2,
    tracesPerTx: 4,
  });
  return extendChain(recording, { length, varyTransactions: true });
}

/** What has to be served of a block, as the canonical text of the kind's record. */
export function expectedRecord(block: ServedBlock, kind: Kind): string {
  return canonicalRecord(kind, sentBy(block, kind));
}

function sentBy(block: ServedBlock, kind: Kind): unknown {
  switch (kind) {
    case 'blocks':
      return readValue(block, 'block');
    case 'transactions':
      return (readValue(block, 'block') as { transactions: unknown[] }).transactions;
    case 'receipts':
      return readValue(block, 'receipts');
    case 'logs':
      return (readValue(block, 'receipts') as { logs: unknown[] }[]).flatMap((receipt) => receipt.logs);
    case 'traces':
      return readValue(block, 'traces');
  }
}
