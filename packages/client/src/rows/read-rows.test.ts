import type { Kind } from '@packhouse/chain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bundleOf, HAS_RECORDINGS, realTexts } from '../testing/real-records.js';
import { tablesPage } from '../testing/tables-page.js';
import { type RowSource, readRows } from './read-rows.js';
import type { Column } from './schema.js';

// biome-ignore lint/suspicious/noExplicitAny: JSON of every kind, whose form is what is tested
type Json = Record<string, any>;
type Row = Record<string, Column[number]>;

async function rowsOf(source: RowSource): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of readRows(source)) {
    for (let row = 0; row < batch.rows; row += 1) {
      rows.push(
        Object.fromEntries(Object.entries(batch.columns).map(([name, column]) => [name, column[row]!])),
      );
    }
  }
  return rows;
}

/** The names of JSON beside those of columns, written down a second time: what a reader of the tables expects. */
const big = (value: unknown): bigint | null => (value == null ? null : BigInt(value as string));
const num = (value: unknown): number | null => (value == null ? null : Number(value));
const text = (value: unknown): unknown => value ?? null;
const json = (value: unknown): string | null => (value == null ? null : JSON.stringify(value));

const EXPECTED: Record<Kind, (record: Json) => Record<string, unknown>> = {
  blocks: (b) => ({
    ...{ block_number: num(b.number), block_hash: b.hash, block_timestamp: num(b.timestamp), miner: b.miner },
    ...{ difficulty: big(b.difficulty), total_difficulty: big(b.totalDifficulty), size: num(b.size) },
    ...{ transaction_count: b.transactions.length, uncles: json(b.uncles), withdrawals: json(b.withdrawals) },
    ...{ base_fee_per_gas: big(b.baseFeePerGas), requests_hash: text(b.requestsHash), nonce: text(b.nonce) },
  }),
  transactions: (t) => ({
    ...{ block_number: num(t.blockNumber), transaction_index: num(t.transactionIndex), input: text(t.input) },
    ...{ transaction_hash: t.hash, from_address: t.from, to_address: t.to, value: big(t.value) },
    ...{ value_text: big(t.value)?.toString() ?? null, nonce: num(t.nonce), gas_price: big(t.gasPrice) },
    ...{ max_fee_per_gas: big(t.maxFeePerGas), transaction_type: num(t.type), chain_id: num(t.chainId) },
    ...{ access_list: json(t.accessList), authorization_list: json(t.authorizationList), v: num(t.v) },
  }),
  receipts: (r) => ({
    ...{ block_number: num(r.blockNumber), transaction_hash: r.transactionHash, status: num(r.status) },
    ...{ contract_address: r.contractAddress, log_count: r.logs.length, root: text(r.root) },
    ...{ gas_used: num(r.gasUsed), effective_gas_price: big(r.effectiveGasPrice), logs_bloom: r.logsBloom },
  }),
  logs: (l) => ({
    ...{ block_number: num(l.blockNumber), log_index: num(l.logIndex), address: l.address, data: l.data },
    ...{ topic0: text(l.topics[0]), topic1: text(l.topics[1]), topic2: text(l.topics[2]) },
    ...{ topic3: text(l.topics[3]), removed: l.removed, block_timestamp: num(l.blockTimestamp) },
    ...{ transaction_hash: l.transactionHash, block_hash: l.blockHash },
  }),
  traces: (t) => ({
    ...{ block_number: num(t.blockNumber), trace_address: json(t.traceAddress), trace_type: t.type },
    ...{ call_type: text(t.action.callType), from_address: text(t.action.from), value: big(t.action.value) },
    ...{ to_address: text(t.action.to), gas: num(t.action.gas), init: text(t.action.init) },
    ...{ input: text(t.action.input), output: text(t.result?.output), code: text(t.result?.code) },
    ...{ contract_address: text(t.result?.address), gas_used: num(t.result?.gasUsed), error: text(t.error) },
    ...{ author: text(t.action.author), reward_type: text(t.action.rewardType) },
    ...{ transaction_hash: text(t.transactionHash), transaction_position: num(t.transactionPosition) },
  }),
};

describe.skipIf(!HAS_RECORDINGS)('rows of real blocks (shared/chain-data)', () => {
  it.each(['mainnet-forks', 'optimism'])(
    'of %s have the values of the records, in every kind',
    async (name) => {
      const seen = new Set<Kind>();
      for (const { kind, number, text: record } of realTexts(name)) {
        seen.add(kind);
        const value = JSON.parse(record) as Json[] | Json;
        const records = Array.isArray(value) ? value : [value];
        const rows = await rowsOf({ bytes: bundleOf([record]), kind, start: number });
        expect(rows).toHaveLength(records.length);
        for (const [at, row] of rows.entries())
          expect(row).toMatchObject(EXPECTED[kind](records[at] as Json));
      }
      expect(seen.size).toBeGreaterThanOrEqual(4);
    },
  );

  it('keep what no column has in extra', async () => {
    for (const name of ['optimism']) {
      for (const { kind, number, text: record } of realTexts(name)) {
        const [first] = [JSON.parse(record) as Record<string, unknown>].flat();
        if (first === undefined) continue;
        const probe = { ...first, l1Probe: { deep: ['0x1'] } };
        const bytes = bundleOf([JSON.stringify(kind === 'blocks' ? probe : [probe])]);
        const [row] = await rowsOf({ bytes, kind, start: number });
        expect(JSON.parse(row?.extra as string)).toMatchObject({ l1Probe: { deep: ['0x1'] } });
      }
    }
  });
});

const ADDRESS = fc.integer({ min: 0, max: 5 }).map((n) => `0x${String(n).repeat(40)}`);
const TOPIC = fc.integer({ min: 0, max: 3 }).map((n) => `0x${String(n).repeat(64)}`);
const HEX = (bits: number) =>
  fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }).map((n) => `0x${n.toString(16)}`);
const log = fc.record({
  removed: fc.boolean(),
  logIndex: HEX(20),
  transactionIndex: HEX(20),
  transactionHash: TOPIC,
  blockHash: TOPIC,
  address: ADDRESS,
  data: HEX(300),
  topics: fc.array(TOPIC, { maxLength: 4 }),
});
const blocks = fc.array(fc.array(log, { maxLength: 5 }), { minLength: 1, maxLength: 6 });
const FIRST = 1_000;
const numbered = (lists: object[][]): Json[][] =>
  lists.map((logs, at) => logs.map((one) => ({ ...one, blockNumber: `0x${(FIRST + at).toString(16)}` })));

it('rows of a match are those that a filter over the records finds, in any batches', async () => {
  const match = fc.record({
    addresses: fc.option(fc.array(ADDRESS, { minLength: 1, maxLength: 10 }), { nil: undefined }),
    topics: fc.option(
      fc.array(fc.option(fc.array(TOPIC, { minLength: 1, maxLength: 2 })), { maxLength: 4 }),
      { nil: undefined },
    ),
  });
  const ends = fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 7 }));
  await fc.assert(
    fc.asyncProperty(
      blocks,
      match,
      ends,
      fc.integer({ min: 1, max: 9 }),
      async (lists, wanted, ends, batchRows) => {
        const [from, to] = ends.map((end) => FIRST + end).sort() as [number, number];
        const records = numbered(lists)
          .flat()
          .filter(({ address, topics, blockNumber }) => {
            return (
              Number(blockNumber) >= from &&
              Number(blockNumber) <= to &&
              (wanted.addresses?.includes(address) ?? true) &&
              (wanted.topics ?? []).every((list, at) => list === null || list.includes(topics[at]))
            );
          });
        const bytes = bundleOf(numbered(lists).map((list) => JSON.stringify(list)));
        const rows = await rowsOf({ bytes, kind: 'logs', start: FIRST, from, to, match: wanted, batchRows });
        expect(rows).toHaveLength(records.length);
        for (const [at, row] of rows.entries()) expect(row).toMatchObject(EXPECTED.logs(records[at]!));
      },
    ),
    { numRuns: 150 },
  );
});

it('a value that its column cannot hold is null there and exact in extra', async () => {
  const all = `0x${'f'.repeat(64)}`;
  const hash = `0x${'1'.repeat(64)}`;
  const record = {
    ...{ blockHash: hash, blockNumber: '0x1', from: `0x${'2'.repeat(40)}`, gas: '0x8000000000000000' },
    ...{ gasPrice: all, hash, input: '0x', nonce: '0x7fffffffffffffff', to: null, transactionIndex: '0x0' },
    ...{ value: all, v: '0x1b', l1Fee: null, type: '0xffffffff' },
  };
  const [row] = await rowsOf({ bytes: bundleOf([JSON.stringify([record])]), kind: 'transactions', start: 1 });
  expect(row).toMatchObject({
    ...{ gas: null, gas_price: null, nonce: 2n ** 63n - 1n, to_address: null, value: null },
    ...{ value_text: (2n ** 256n - 1n).toString(), transaction_type: null },
  });
  const { gas, gasPrice, value, type } = record;
  expect(JSON.parse(row?.extra as string)).toEqual({ gas, gasPrice, value, type, l1Fee: null });
});

it('a bundle with much text is read block by block, with the same rows', async () => {
  const [record] = numbered([[fc.sample(log, 1)[0] as object]])[0] as [Json];
  const small = (at: number): Json => ({ ...record, blockNumber: `0x${(FIRST + at).toString(16)}` });
  const large = { ...small(1), data: `0x${'00'.repeat(17_000_000)}` };
  const bytes = bundleOf([[small(0)], [large], [small(2)]].map((list) => JSON.stringify(list)));
  const rows = await rowsOf({ bytes, kind: 'logs', start: FIRST, from: FIRST + 1 });
  expect(rows.map(({ block_number }) => block_number)).toEqual([FIRST + 1, FIRST + 2]);
  expect(rows[0]?.data === large.data).toBe(true);
});

it.each([
  ['cut off', (bytes: Buffer) => bytes.subarray(0, -9)],
  ['other than JSON', () => bundleOf(['[}'])],
  ['no gzip', () => Buffer.from('nonsense')],
])('a bundle that is %s is refused', async (_, change) => {
  const bytes = change(bundleOf(['[]', '[]']));
  await expect(rowsOf({ bytes, kind: 'logs', start: 1 })).rejects.toMatchObject({ code: 'BUNDLE_INVALID' });
});

it('a record without what every row has is refused', async () => {
  const bytes = bundleOf(['[{"blockNumber":"0x1","topics":[]}]']);
  await expect(rowsOf({ bytes, kind: 'logs', start: 1 })).rejects.toMatchObject({
    code: 'RECORD_INVALID',
    message: expect.stringContaining('A record of logs has no blockHash'),
  });
});

it('addresses and topics that a kind does not have are refused', async () => {
  const bytes = bundleOf(['[]']);
  await expect(
    rowsOf({ bytes, kind: 'blocks', start: 1, match: { addresses: ['0x'] } }),
  ).rejects.toMatchObject({
    code: 'USAGE',
  });
  await expect(
    rowsOf({ bytes, kind: 'traces', start: 1, match: { topics: [['0x']] } }),
  ).rejects.toMatchObject({
    code: 'USAGE',
  });
});

it('docs/tables.md has every column (write it anew with `npx vitest run packages/client/src/rows -u`)', async () => {
  await expect(tablesPage()).toMatchFileSnapshot('../../../../docs/tables.md');
});
