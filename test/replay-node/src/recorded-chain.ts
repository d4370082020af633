import { PackhouseError } from '@packhouse/runtime';
import { BlockTemplates } from './block-templates.js';
import type { RecordedBlock } from './recorded-block.js';
import type { ServedBlock, ServedChain, TransactionPlace } from './served-chain.js';

/** Serves recorded blocks as they were recorded, gaps included. */
export function recordedChain(blocks: readonly RecordedBlock[]): ServedChain {
  if (blocks.length === 0) {
    throw new PackhouseError({
      code: 'USAGE',
      message: 'A chain was asked for with no blocks in it.',
      hint: 'Give at least one recorded block.',
    });
  }
  const byNumber = new Map<number, ServedBlock>();
  const byHash = new Map<string, number>();
  const places = new Map<string, TransactionPlace>();
  for (const record of blocks) {
    byNumber.set(record.number, recordedBlock(record));
    byHash.set(record.block.hash, record.number);
    record.block.transactions.forEach(({ hash }, index) => {
      places.set(hash, { number: record.number, index });
    });
  }
  const numbers = blocks.map(({ number }) => number);
  return {
    firstNumber: numbers.reduce((a, b) => Math.min(a, b)),
    lastNumber: numbers.reduce((a, b) => Math.max(a, b)),
    block: (number) => byNumber.get(number),
    toNumber: (hash) => byHash.get(hash),
    locateTransaction: (hash) => places.get(hash),
  };
}

/** One recorded block, served as it is. */
export function recordedBlock(record: RecordedBlock): ServedBlock {
  const templates = new BlockTemplates(record, { place: false, transactions: false });
  return {
    number: record.number,
    hash: record.block.hash,
    parentHash: record.block.parentHash,
    timestamp: Number(record.block.timestamp),
    transactionCount: record.block.transactions.length,
    text: (part) => templates.get(part)?.served([]),
    item: (part, index) => templates.get(part)?.renderItem([], index),
  };
}
