import { gzipSync } from 'node:zlib';
import { canonicalRecord, KINDS, type Kind } from '@packhouse/chain';
import { ALL, GIVEN, getGiven, type Recorded } from '@packhouse/recordings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TRANSFER_PARTS } from '../transfers/read-transfers.js';
import { toSchema } from './read-columns.js';
import { readCodedRows, readRows } from './read-rows.js';
import type { Schema } from './schema.js';

const OF_OTHER_NETWORKS = ['optimism', 'sepolia', 'op-sepolia', 'goerli', 'devnet', 'hivechain'] as const;

/** Those whose scanner has no test of its own. */
const OTHERS = KINDS.filter((kind) => kind !== 'logs');

type Json = Record<string, unknown>;

/** The same text with a space that the scanner declines. */
const declined = (text: string): string => text.replace('{', '{ ');

const toSchemas = (kind: Kind): Schema[] =>
  [
    toSchema(kind),
    toSchema(kind, { bytes: true }),
    ...Object.values(TRANSFER_PARTS).filter((part) => part.kind === kind),
    ...(kind === 'receipts' ? [] : [toSchema(kind, { peer: 'cryo', bytes: true })]),
    toSchema(kind === 'receipts' ? 'logs' : kind, { peer: 'ethereum-etl' }),
  ].filter((schema) => schema.kind === kind);

async function getRows(
  kind: Kind,
  text: string,
  {
    schema,
    receipts,
    chainId = 1,
  }: { schema: Schema; receipts?: readonly unknown[] | undefined; chainId?: number },
): Promise<{ rows: string[]; error: string | null }> {
  const rows: string[] = [];
  const textOf = async (block: number): Promise<Buffer | null> => {
    const of = receipts?.[block - 5];
    return of == null ? null : Buffer.from(JSON.stringify(of), 'latin1');
  };
  const source = { kind, bytes: gzipSync(text), chainId, fileFrom: 5, schema, receipts: textOf };
  try {
    for await (const { rows: count, columns } of readRows({
      ...source,
      times: async () => [100, 112, 124],
    })) {
      for (let row = 0; row < count; row += 1) {
        const values = Object.entries(columns).map(([name, column]) => [name, column[row]]);
        rows.push(JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)));
      }
    }
    return { rows, error: null };
  } catch (error) {
    return { rows, error: (error as Error).message };
  }
}

/** The canonical text of a block of a kind; null: it is not recorded. */
function textOf(kind: Kind, { block, receipts, traces }: Recorded): string | null {
  const values = {
    blocks: block,
    transactions: block.transactions,
    receipts,
    logs: receipts?.flatMap(({ logs }) => logs),
    traces,
  };
  try {
    return values[kind] === undefined ? null : canonicalRecord(kind, values[kind], { header: 'trust' });
  } catch {
    return null;
  }
}

/** Compares the rows of scanned blocks with those of parsed ones, in every schema; returns the number of blocks. */
async function compare(kind: Kind, blocks: readonly Recorded[]): Promise<number> {
  let compared = 0;
  for (const line of blocks) {
    const record = textOf(kind, line);
    if (record === null) continue;
    const text = `[${record}]`;
    const receipts = line.receipts === undefined ? undefined : [line.receipts];
    for (const schema of toSchemas(kind)) {
      const of = { schema, receipts };
      expect(await getRows(kind, text, of)).toEqual(await getRows(kind, declined(text), of));
    }
    compared += 1;
  }
  return compared;
}

describe.each(ALL)('$title', (source) => {
  it.each(OTHERS)('rows of %s are those of parsed records, in every schema', async (kind) => {
    expect(await compare(kind, source.blocks('row').slice(0, 1))).toBe(1);
    expect(await compare(kind, source.blocks('forks'))).toBeGreaterThan(3);
    for (const name of OF_OTHER_NETWORKS.filter(source.has)) {
      await compare(kind, source.blocks(name).slice(0, 20));
    }
  });

  it.each(KINDS)('%s are scanned and not parsed', async (kind) => {
    const [line] = source.blocks('row') as [Recorded];
    const text = `[${textOf(kind, line)}]`;
    const receipts = async () => Buffer.from(textOf('receipts', line) as string);
    const rows = { kind, bytes: gzipSync(text), chainId: 1, fileFrom: 0, receipts };
    for await (const { columns } of readCodedRows(rows)) {
      for (const column of Object.values(columns)) expect(Array.isArray(column)).toBe(false);
    }
  });
});

describe.skipIf(GIVEN === null)('blocks of other networks (needs RECORDINGS)', () => {
  it.each(['other-networks', 'other-networks-2'] as const)(
    '%s: rows of each kind are those of parsed records, in every schema',
    async (name) => {
      for (const kind of OTHERS) await compare(kind, getGiven().blocks(name));
    },
  );
});

const hash = (digit: string): string => `0x${digit.repeat(64)}`;
const account = (digit: string): string => `0x${digit.repeat(40)}`;

const RECORDS: Readonly<Record<Exclude<Kind, 'logs'>, Json>> = {
  blocks: {
    number: '0x5',
    hash: hash('1'),
    parentHash: hash('2'),
    sha3Uncles: hash('3'),
    logsBloom: '0x00',
    transactionsRoot: hash('4'),
    stateRoot: hash('5'),
    receiptsRoot: hash('6'),
    miner: account('a'),
    extraData: '0x',
    timestamp: '0x64',
    transactions: [{ hash: hash('7'), accessList: [{ address: account('b') }] }, { hash: hash('8') }],
    uncles: [],
    withdrawals: [{ index: '0x1', amount: '0x2' }],
  },
  transactions: {
    blockHash: hash('1'),
    blockNumber: '0x5',
    from: account('a'),
    hash: hash('2'),
    to: account('b'),
    transactionIndex: '0x0',
    value: '0x5',
    type: '0x2',
    chainId: '0x1',
    accessList: [{ address: account('c'), storageKeys: [hash('3')] }],
  },
  receipts: {
    transactionHash: hash('2'),
    transactionIndex: '0x0',
    blockHash: hash('1'),
    blockNumber: '0x5',
    from: account('a'),
    gasUsed: '0x7',
    contractAddress: null,
    logs: [{ topics: [hash('4')] }, { topics: [] }],
    logsBloom: '0x00',
    status: '0x1',
    effectiveGasPrice: '0x9',
  },
  traces: {
    action: { callType: 'call', from: account('a'), to: account('b'), gas: '0x1', value: '0x2', input: '0x' },
    result: { gasUsed: '0x1', output: '0x' },
    blockHash: hash('1'),
    blockNumber: 5,
    subtraces: 0,
    traceAddress: [0, 1],
    transactionHash: hash('2'),
    transactionPosition: 0,
    type: 'call',
  },
};

/** Values that are unusual in some place. */
const VALUES = [
  null,
  true,
  0,
  1.5,
  -3,
  2 ** 53,
  '',
  '0x',
  '0x7',
  `0x${'f'.repeat(64)}`,
  'a"b',
  'é',
  'a\\',
  '\n',
  hash('9'),
  [],
  {},
  [1],
  [[]],
  [{}],
  ['x'],
  [{ a: '}' }],
  [{ a: '"' }],
  { value: '0x5' },
  { more: 1 },
  [{}, 1],
];

describe.each(['blocks', 'transactions', 'receipts', 'traces'] as const)('%s', (kind) => {
  const change = fc.record({
    name: fc.constantFrom(...Object.keys(RECORDS[kind]), 'more', 'chainId', 'blockTimestamp', 'error'),
    inner: fc.constantFrom(null, null, 'value', 'from', 'gasUsed', 'address', 'more'),
    how: fc.constantFrom('set', 'set', 'drop', 'last'),
    value: fc.constantFrom(...VALUES),
  });
  const record = fc.array(change, { maxLength: 2 }).map((changes) => {
    const made = structuredClone(RECORDS[kind]);
    for (const { name, inner, how, value } of changes) {
      const within = made[name];
      const isObject = typeof within === 'object' && within !== null && !Array.isArray(within);
      const place = inner !== null && isObject ? (within as Json) : made;
      const key = place === made ? name : (inner as string);
      const old = place[key];
      if (how !== 'set') delete place[key];
      if (how !== 'drop' && !(how === 'last' && old === undefined))
        place[key] = how === 'last' ? old : structuredClone(value);
    }
    return made;
  });
  const block = kind === 'blocks' ? record : fc.array(record, { maxLength: 4 });
  const bundle = fc.array(block as fc.Arbitrary<unknown>, { maxLength: 3 });
  const receipt = fc.oneof(
    fc.constant(RECORDS.receipts),
    fc
      .tuple(fc.constantFrom(...Object.keys(RECORDS.receipts)), fc.constantFrom(...VALUES))
      .map(([name, value]) => ({ ...RECORDS.receipts, [name]: value })),
  );
  const receipts = fc.array(fc.oneof(fc.constant(null), fc.array(receipt, { maxLength: 4 })), {
    maxLength: 3,
  });

  it('with anything unusual have the rows, or the error, of parsed ones', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        bundle,
        receipts,
        fc.constantFrom(...toSchemas(kind)),
        async (blocks, beside, schema) => {
          const text = `[${blocks.map((each) => JSON.stringify(each)).join(',')}]`;
          const of = { schema, receipts: beside };
          const [scanned, parsed] = [await getRows(kind, text, of), await getRows(kind, declined(text), of)];
          expect(scanned.error === null).toBe(parsed.error === null);
          // What is before a fault may have been read by then.
          if (scanned.error === null) expect(scanned.rows).toEqual(parsed.rows);
        },
      ),
      { numRuns: process.env.SEEDS === 'many' ? 2_000 : 150 },
    );
  });
});
