import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type CodedBatch, toPlainBatch } from './coded-column.js';
import { type RowSource, readCodedRows } from './read-rows.js';
import { withReceipts } from './with-receipts.js';

type Json = Record<string, unknown>;

const hash = (n: number): string => `0x${String(n).padStart(64, '0')}`;
const account = `0x${'2'.repeat(40)}`;
const transaction = (block: number, index: number, more: Json = {}): Json => ({
  blockHash: hash(9),
  blockNumber: `0x${block.toString(16)}`,
  from: account,
  gas: '0x5208',
  hash: hash(block * 100 + index),
  input: '0x',
  nonce: '0x0',
  to: account,
  transactionIndex: `0x${index}`,
  value: '0x1',
  ...more,
});
const receipt = (block: number, index: number, more: Json = {}): Json => ({
  blockHash: hash(9),
  blockNumber: `0x${block.toString(16)}`,
  transactionIndex: `0x${index}`,
  transactionHash: hash(block * 100 + index),
  status: `0x${index % 2}`,
  gasUsed: `0x${(block * 1_000).toString(16)}`,
  cumulativeGasUsed: '0x5208',
  effectiveGasPrice: '0x7',
  logs: [],
  logsBloom: '0x',
  ...more,
});

async function read(source: Omit<RowSource, 'path' | 'bytes'> & { text: Buffer }): Promise<CodedBatch> {
  const batches: CodedBatch[] = [];
  for await (const batch of readCodedRows(source)) batches.push(batch);
  expect(batches).toHaveLength(1);
  return batches[0] as CodedBatch;
}

const bundle = (blocks: readonly Json[][]): Buffer => Buffer.from(JSON.stringify(blocks));

const LARGE = `0x${'f'.repeat(40)}`;
it.each<[string, Json[][], Json[][]]>([
  [
    'each transaction has one',
    [[transaction(5, 0), transaction(5, 1)], [], [transaction(7, 0)]],
    [[receipt(5, 0), receipt(5, 1)], [], [receipt(7, 0)]],
  ],
  [
    'one is missing, or of another transaction',
    [[transaction(5, 0), transaction(5, 1)], [transaction(6, 0), transaction(6, 1)], [transaction(7, 0)]],
    [[receipt(5, 0)], [receipt(6, 3), receipt(6, 1)], []],
  ],
  [
    'there are more of them',
    [[transaction(5, 0)], [transaction(6, 0)], []],
    [[receipt(5, 0), receipt(5, 1)], [receipt(6, 0)], [receipt(7, 0)]],
  ],
  [
    'no column can hold a value of one',
    [[transaction(5, 0), transaction(5, 1, { odd: '0x9' })], [transaction(6, 0, { odd: 1 })], []],
    [
      [receipt(5, 0, { l1Fee: '0x1' }), receipt(5, 1, { gasUsed: LARGE, l1Fee: '0x2' })],
      [receipt(6, 0, { status: null, root: '0x12', effectiveGasPrice: LARGE })],
      [],
    ],
  ],
])('adds the columns of receipts as reading them together does: %s', async (_, transactions, receipts) => {
  const source = { kind: 'transactions' as const, chainId: 1, fileFrom: 5, text: bundle(transactions) };
  const together = await read({
    ...source,
    receipts: async (block) => Buffer.from(JSON.stringify(receipts[block - 5])),
  });
  const alone = await read(source);
  const ofReceipts = await read({ kind: 'receipts', chainId: 1, fileFrom: 5, text: bundle(receipts) });
  expect(toPlainBatch(withReceipts(alone, ofReceipts))).toEqual(toPlainBatch(together));
  expect(toPlainBatch(together).columns.gas_used).toContain(5_000);
});

it('a text that was inflated before has the rows of its bundle', async () => {
  const text = bundle([[transaction(5, 0)]]);
  const source = { kind: 'transactions' as const, chainId: 1, fileFrom: 5 };
  const rows: CodedBatch[] = [];
  for await (const batch of readCodedRows({ ...source, bytes: gzipSync(text) })) rows.push(batch);
  expect(rows).toEqual([await read({ ...source, text })]);
});
