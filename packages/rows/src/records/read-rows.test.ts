import { gzipSync } from 'node:zlib';
import { canonicalRecord, KINDS, type Kind } from '@packhouse/chain';
import { ALL, type Recorded } from '@packhouse/recordings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transfersPage } from '../testing/transfers-page.js';
import { toSchema } from './read-columns.js';
import { type RowSource, readRows } from './read-rows.js';
import type { Column } from './schema.js';
import { FIELD_COLUMNS } from './schemas.js';

/** The canonical text of each block, for each kind that is recorded. */
function toTexts(recorded: readonly Recorded[]): { kind: Kind; number: number; text: string }[] {
  return recorded.flatMap(({ number, block, receipts, traces }) => {
    const values: Partial<Record<Kind, unknown>> = {
      blocks: block,
      transactions: block.transactions,
      receipts,
      traces,
      logs: receipts?.flatMap(({ logs }) => logs),
    };
    return KINDS.flatMap((kind) => {
      if (values[kind] === undefined) return [];
      return [{ kind, number, text: canonicalRecord(kind, values[kind], { header: 'trust' }) }];
    });
  });
}

/** A bundle of these blocks. */
function toBundle(texts: readonly string[]): Buffer {
  return gzipSync(`[${texts.join(',')}]`);
}

const INTRODUCTION = `# Tables

\`packhouse pull --format\` and \`readRows\` of [\`packages/client\`](../packages/client/README.md) make a table for each kind, with a row for each record, in the
order of the chain. The version of a table changes with every column; a target of another version is refused (\`TARGET_MISMATCH\`).

| type | in JSONL | in CSV |
|---|---|---|
| \`BIGINT\`, \`INTEGER\` | number | number |
| \`DECIMAL(38,0)\` | string of digits (pandas: \`dtype=False\`) | digits |
| \`DOUBLE\` | \`5.0\`, \`2e+19\` | the same |
| \`TEXT\`: hashes, addresses, topics and data are lower-case hex with \`0x\` | string | text |
| \`TIMESTAMP\`, in UTC | \`"2023-07-13T17:37:07Z"\` | \`2023-07-13 17:37:07\` |
| \`JSON\` | value | its text |
| null | \`null\` | nothing; an empty text is \`""\` |

- \`extra\` is a JSON object of fields without a column, such as \`l1Fee\` or \`sourceHash\`, or null. It also has values that their column cannot hold, by
  the name in the record: \`DECIMAL(38,0)\` ends at 10^38, \`BIGINT\` at 2^63. \`value_text\` is exact for every value.
- A column has the member of the record with its name in camel case, or the one before the colon. A type with \`?\` is null if the record lacks it or has null. A
  \`_double\` is rounded.
- \`@time\` is the timestamp of the block's proved header, from the record or the file's signed [filter](formats.md#filters); null without both. \`@chain\` is in
  the manifest. \`receipt.…\` is of the receipts of the same blocks, which are pulled along; null where none are published.
- The transactions of a block and the logs of a receipt are in tables of their own; their parents have the counts.
`;

const PEERS_TEXT = `
## Columns of other programs

\`--schema cryo\` (0.3.2) and \`--schema ethereum-etl\` (docs/schema.md) have their default columns, types and file names: queries for their files run
unchanged. There is no \`extra\`; a value that its column cannot hold is refused. Decimals of ethereum-etl beyond 38 digits are null, as its own, and exact in text.
cryo has no receipts, and its traces leave out failed calls. Not available: other datasets and columns, \`trace_id\` of rewards.
`;

/** The page of docs that has every column. */
function tablesPage(): string {
  const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  const tables = KINDS.map((kind) => {
    const schema = toSchema(kind);
    const lines: string[] = [];
    let last: string | undefined;
    for (const [at, { name, type, required }] of schema.columns.entries()) {
      const field = FIELD_COLUMNS[kind][at]?.field;
      const column = `\`${name}\` ${type}${required ? '' : '?'}`;
      if (field !== undefined && field === last) lines.push(`${lines.pop()}, ${column}`);
      else if (field === undefined || field === camelCase(name)) lines.push(`- ${column}`);
      else lines.push(`- \`${field}\`: ${column}`);
      last = field;
    }
    return `\n## ${kind}\n\nVersion \`${schema.name}\`.\n\n${lines.join('\n')}\n`;
  });
  return INTRODUCTION + tables.join('') + transfersPage() + PEERS_TEXT;
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of every kind, whose form is what is tested
type Json = Record<string, any>;
type Row = Record<string, Column[number]>;

type Source = Omit<RowSource, 'path' | 'bytes' | 'chainId'> & { bytes: Uint8Array; chainId?: number };

async function getRows(source: Source): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of readRows({ chainId: 1, ...source })) {
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
    block_number: num(b.number),
    block_hash: b.hash,
    block_timestamp: num(b.timestamp),
    miner: b.miner,
    difficulty: big(b.difficulty),
    total_difficulty: big(b.totalDifficulty),
    size: num(b.size),
    transaction_count: b.transactions.length,
    uncles: json(b.uncles),
    withdrawals: json(b.withdrawals),
    base_fee_per_gas: big(b.baseFeePerGas),
    requests_hash: text(b.requestsHash),
    nonce: text(b.nonce),
  }),
  transactions: (t) => ({
    block_number: num(t.blockNumber),
    transaction_index: num(t.transactionIndex),
    input: text(t.input),
    transaction_hash: t.hash,
    from_address: t.from,
    to_address: t.to,
    value: big(t.value),
    value_text: big(t.value)?.toString() ?? null,
    nonce: num(t.nonce),
    gas_price: big(t.gasPrice),
    max_fee_per_gas: big(t.maxFeePerGas),
    transaction_type: num(t.type),
    access_list: json(t.accessList),
    authorization_list: json(t.authorizationList),
    v: num(t.v),
  }),
  receipts: (r) => ({
    block_number: num(r.blockNumber),
    transaction_hash: r.transactionHash,
    status: num(r.status),
    contract_address: r.contractAddress,
    log_count: r.logs.length,
    root: text(r.root),
    gas_used: num(r.gasUsed),
    effective_gas_price: big(r.effectiveGasPrice),
    logs_bloom: r.logsBloom,
  }),
  logs: (l) => ({
    block_number: num(l.blockNumber),
    log_index: num(l.logIndex),
    address: l.address,
    data: l.data,
    topic0: text(l.topics[0]),
    topic1: text(l.topics[1]),
    topic2: text(l.topics[2]),
    topic3: text(l.topics[3]),
    removed: l.removed,
    block_timestamp: num(l.blockTimestamp),
    transaction_hash: l.transactionHash,
    block_hash: l.blockHash,
  }),
  traces: (t) => ({
    block_number: num(t.blockNumber),
    trace_address: json(t.traceAddress),
    trace_type: t.type,
    call_type: text(t.action.callType),
    from_address: text(t.action.from),
    value: big(t.action.value),
    to_address: text(t.action.to),
    gas: num(t.action.gas),
    init: text(t.action.init),
    input: text(t.action.input),
    output: text(t.result?.output),
    code: text(t.result?.code),
    contract_address: text(t.result?.address),
    gas_used: num(t.result?.gasUsed),
    error: text(t.error),
    author: text(t.action.author),
    reward_type: text(t.action.rewardType),
    transaction_hash: text(t.transactionHash),
    transaction_position: num(t.transactionPosition),
  }),
};

/** Compares rows with the records that they are of; returns the kinds. */
async function compareRows(recorded: readonly Recorded[]): Promise<Set<Kind>> {
  const seen = new Set<Kind>();
  for (const { kind, number, text: record } of toTexts(recorded)) {
    seen.add(kind);
    const value = JSON.parse(record) as Json[] | Json;
    const records = Array.isArray(value) ? value : [value];
    const rows = await getRows({ bytes: toBundle([record]), kind, fileFrom: number });
    expect(rows).toHaveLength(records.length);
    for (const [at, row] of rows.entries()) expect(row).toMatchObject(EXPECTED[kind](records[at] as Json));
  }
  return seen;
}

/** Reads a field that no column has in the first record of each block and kind. */
async function findExtra(recorded: readonly Recorded[]): Promise<void> {
  for (const { kind, number, text: record } of toTexts(recorded)) {
    const [first] = [JSON.parse(record) as Record<string, unknown>].flat();
    if (first === undefined) continue;
    const probe = { ...first, l1Probe: { deep: ['0x1'] } };
    const bytes = toBundle([JSON.stringify(kind === 'blocks' ? probe : [probe])]);
    const [row] = await getRows({ bytes, kind, fileFrom: number });
    expect(JSON.parse(row?.extra as string)).toMatchObject({ l1Probe: { deep: ['0x1'] } });
  }
}

describe.each(ALL)('rows of $title', (source) => {
  it('have the values of the records, in every kind and of every fork', async () => {
    expect(await compareRows(source.blocks('forks'))).toEqual(new Set(KINDS));
  });

  it('have the values of the records, of Optimism', async () => {
    expect((await compareRows(source.blocks('optimism'))).size).toBeGreaterThanOrEqual(4);
  });

  it.each(['forks', 'optimism'] as const)('keep what no column has in extra, of %s', (name) =>
    findExtra(source.blocks(name)),
  );
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
        const bytes = toBundle(numbered(lists).map((list) => JSON.stringify(list)));
        const rows = await getRows({
          bytes,
          kind: 'logs',
          fileFrom: FIRST,
          from,
          to,
          match: wanted,
          batchRows,
        });
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
    blockHash: hash,
    blockNumber: '0x1',
    from: `0x${'2'.repeat(40)}`,
    gas: '0x8000000000000000',
    gasPrice: all,
    hash,
    input: '0x',
    nonce: '0x7fffffffffffffff',
    to: null,
    transactionIndex: '0x0',
    value: all,
    v: '0x1b',
    l1Fee: null,
    type: '0xffffffff',
  };
  const [row] = await getRows({
    bytes: toBundle([JSON.stringify([record])]),
    kind: 'transactions',
    fileFrom: 1,
  });
  expect(row).toMatchObject({
    gas: null,
    gas_price: null,
    nonce: 2n ** 63n - 1n,
    to_address: null,
    value: null,
    value_text: (2n ** 256n - 1n).toString(),
    transaction_type: null,
  });
  const { gas, gasPrice, value, type } = record;
  expect(JSON.parse(row?.extra as string)).toEqual({ gas, gasPrice, value, type, l1Fee: null });
});

it('a bundle with much text is read block by block, with the same rows', async () => {
  const [record] = numbered([[fc.sample(log, 1)[0] as object]])[0] as [Json];
  const small = (at: number): Json => ({ ...record, blockNumber: `0x${(FIRST + at).toString(16)}` });
  const large = { ...small(1), data: `0x${'00'.repeat(17_000_000)}` };
  const bytes = toBundle([[small(0)], [large], [small(2)]].map((list) => JSON.stringify(list)));
  const rows = await getRows({ bytes, kind: 'logs', fileFrom: FIRST, from: FIRST + 1 });
  expect(rows.map(({ block_number }) => block_number)).toEqual([FIRST + 1, FIRST + 2]);
  expect(rows[0]?.data === large.data).toBe(true);
});

it.each([
  ['cut off', (bytes: Buffer) => bytes.subarray(0, -9)],
  ['other than JSON', () => toBundle(['[}'])],
  ['no gzip', () => Buffer.from('nonsense')],
])('a bundle that is %s is refused', async (_, change) => {
  const bytes = change(toBundle(['[]', '[]']));
  await expect(getRows({ bytes, kind: 'logs', fileFrom: 1 })).rejects.toMatchObject({
    code: 'BUNDLE_INVALID',
  });
});

it('a record without what every row has is refused', async () => {
  const bytes = toBundle(['[{"blockNumber":"0x1","topics":[]}]']);
  await expect(getRows({ bytes, kind: 'logs', fileFrom: 1 })).rejects.toMatchObject({
    code: 'RECORD_INVALID',
    message: expect.stringContaining('A record of logs has no blockHash'),
  });
});

it('addresses and topics that a kind does not have are refused', async () => {
  const bytes = toBundle(['[]']);
  await expect(
    getRows({ bytes, kind: 'blocks', fileFrom: 1, match: { addresses: ['0x'] } }),
  ).rejects.toMatchObject({
    code: 'USAGE',
  });
  await expect(
    getRows({ bytes, kind: 'traces', fileFrom: 1, match: { topics: [['0x']] } }),
  ).rejects.toMatchObject({
    code: 'USAGE',
  });
});

it('docs/tables.md has every column (write it anew with `npx vitest run packages/rows -u`)', async () => {
  await expect(tablesPage()).toMatchFileSnapshot('../../../../docs/tables.md');
});
