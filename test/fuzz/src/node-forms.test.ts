import { createKeccak256 } from '@packhouse/chain';
import { beforeAll, expect, it } from 'vitest';
import { PLAIN } from './cases.js';
import type { Answer, Json } from './encode.js';
import { createPairs } from './fuzz.js';
import { judge } from './judge.js';
import { madeSamples, type Sample } from './samples.js';
import { getScanner } from './scanner.js';

/** Changes all transactions, of some types only. */
const transactions =
  (change: (tx: Json) => void, types = '0x0 0x1 0x2 0x3 0x4') =>
  ({ block }: Answer) =>
    block.transactions.filter(({ type }) => types.split(' ').includes(String(type))).forEach(change);
const receipts =
  (change: (receipt: Json) => void) =>
  (answer: Answer): void =>
    answer.receipts.forEach(change);
const padded = (hex: unknown) => `0x${String(hex).slice(2).padStart(64, '0')}`;

/** How nodes of other makes and ages write the same. */
const FORMS: readonly (readonly [form: string, change: (answer: Answer) => unknown])[] = [
  ['no type of legacy transactions', transactions((tx) => delete tx.type, '0x0')],
  ['no chain of legacy transactions', transactions((tx) => delete tx.chainId, '0x0')],
  ['null for that chain', transactions((tx) => Object.assign(tx, { chainId: null }), '0x0')],
  ['no yParity', transactions((tx) => delete tx.yParity, '0x1 0x2 0x3 0x4')],
  ['no v', transactions((tx) => delete tx.v, '0x1 0x2 0x3 0x4')],
  [
    'no empty access list',
    transactions((tx) => {
      if ((tx.accessList as unknown[] | undefined)?.length === 0) delete tx.accessList;
    }),
  ],
  ['r and s of 32 bytes', transactions((tx) => Object.assign(tx, { r: padded(tx.r), s: padded(tx.s) }))],
  [
    "OpenEthereum's fields of transactions",
    transactions((tx) =>
      Object.assign(tx, { creates: null, publicKey: '0x12', raw: '0x34', standardV: '0x0' }),
    ),
  ],
  ['no sender and recipient in receipts', receipts((one) => void (delete one.from && delete one.to))],
  ['no type of receipts', receipts((one) => delete one.type)],
  ['no price in receipts', receipts((one) => delete one.effectiveGasPrice)],
  ['no gas of blobs', receipts((one) => delete one.blobGasUsed)],
  ['no price of blobs', receipts((one) => delete one.blobGasPrice)],
  ['null for the status before Byzantium', receipts((one) => (one.status ??= null))],
  ['null for the root since Byzantium', receipts((one) => (one.root ??= null))],
  [
    "OpenEthereum's fields of logs",
    ({ receipts: all }) =>
      all
        .flatMap(({ logs }) => logs)
        .map((log) => Object.assign(log, { transactionLogIndex: '0x0', type: 'mined' })),
  ],
  ['null for the error of traces', ({ traces }) => traces.map((trace) => (trace.error ??= null))],
  [
    'the newer name of suicides',
    ({ traces }) =>
      traces
        .filter(({ type }) => type === 'suicide')
        .map((trace) => Object.assign(trace, { type: 'selfdestruct' })),
  ],
  [
    "Anvil's time in receipts",
    ({ block, receipts: all }) =>
      all.map((one) => Object.assign(one, { blockTimestamp: Number(block.timestamp) })),
  ],
  [
    "Anvil's price of blobs in all receipts",
    receipts((one) => Object.assign(one, one.type === '0x3' ? {} : { blobGasPrice: '0x1' })),
  ],
  [
    "Erigon's nulls for the fees of older types",
    transactions((tx) => Object.assign(tx, { maxFeePerGas: null, maxPriorityFeePerGas: null }), '0x0 0x1'),
  ],
  [
    'empty lists of other types',
    transactions(
      (tx) => Object.assign(tx, { blobVersionedHashes: [], authorizationList: [] }),
      '0x0 0x1 0x2',
    ),
  ],
  [
    'an empty access list of legacy transactions',
    transactions((tx) => Object.assign(tx, { accessList: [] }), '0x0'),
  ],
  [
    'no new contract of calls',
    receipts((one) => {
      if (one.to !== null) delete one.contractAddress;
    }),
  ],
  ['no size', ({ block }) => delete block.size],
  ['a wrong size', ({ block }) => Object.assign(block, { size: '0x1' })],
  ['no withdrawals', ({ block }) => delete block.withdrawals],
  ['null for the total difficulty', ({ block }) => Object.assign(block, { totalDifficulty: null })],
  ['author and seals', ({ block }) => Object.assign(block, { author: block.miner, sealFields: ['0x12'] })],
  [
    'the time in transactions and logs',
    ({ block, receipts: all }) => {
      const records = [...block.transactions, ...all.flatMap(({ logs }) => logs)];
      for (const record of records) record.blockTimestamp = block.timestamp;
    },
  ],
  [
    'fees of the OP stack',
    receipts((one) =>
      Object.assign(one, { l1Fee: '0x1', l1GasPrice: '0x2', l1GasUsed: '0x3', l1FeeScalar: null }),
    ),
  ],
];

const pairFor = createPairs(getScanner);
let samples: readonly Sample[];
beforeAll(async () => {
  samples = madeSamples(process.env.TESTS === 'all' ? 200 : 80, await createKeccak256());
});

it.each(FORMS)('the scanner accepts blocks with %s, as the prover does', async (_, change) => {
  let accepted = 0;
  for (const sample of samples) {
    const answer: Answer = JSON.parse(
      `{"block":${sample.block},"receipts":${sample.receipts},"traces":${sample.traces}}`,
    );
    change(answer);
    const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
    const raw = {
      block: bytes(answer.block),
      receipts: bytes(answer.receipts),
      traces: bytes(answer.traces),
    };
    const { scan, judging } = await pairFor({ ...PLAIN, chainId: sample.chainId });
    const verdict = judge(scan, judging, raw, true);
    // Each of its blocks begins with a transaction of a type that the scanner does not read.
    const expected = sample.name === 'arbitrum' ? /^(declined|refused)$/ : /^(accepted|refused)$/;
    expect([sample.name, verdict]).toEqual([sample.name, expect.stringMatching(expected)]);
    if (verdict === 'accepted') accepted++;
  }
  expect(accepted).toBeGreaterThan(samples.length / 4);
});
