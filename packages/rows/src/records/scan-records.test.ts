import { gzipSync } from 'node:zlib';
import { canonicalRecord } from '@packhouse/chain';
import { ALL, type Recorded } from '@packhouse/recordings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CodedBatch } from './coded-column.js';
import { toSchema } from './read-columns.js';
import { readCodedRows, readRows } from './read-rows.js';
import type { Schema } from './schema.js';

const SCHEMAS: readonly Schema[] = [
  toSchema('logs'),
  toSchema('logs', { bytes: true }),
  toSchema('logs', { peer: 'cryo', bytes: true }),
  toSchema('logs', { peer: 'ethereum-etl' }),
];

interface Outcome {
  rows: string[];
  error: string | null;
}

/** The rows of a text, or those before an error. */
async function getRows(text: string, schema = toSchema('logs'), part = {}): Promise<Outcome> {
  const rows: string[] = [];
  try {
    const times = async (): Promise<number[]> => [1_700_000_000, 1_700_000_012, 1_700_000_024];
    const source = { kind: 'logs', bytes: gzipSync(text), chainId: 1, fileFrom: 5, times, schema } as const;
    for await (const { rows: count, columns } of readRows({ ...source, ...part })) {
      for (let row = 0; row < count; row += 1) {
        const values = Object.entries(columns).map(([name, column]) => [
          name,
          column[row],
          typeof column[row],
        ]);
        rows.push(JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)));
      }
    }
    return { rows, error: null };
  } catch (error) {
    return { rows, error: (error as Error).message };
  }
}

/** The same text with a space that the scanner declines. */
function declined(text: string): string {
  return text.replace('{', '{ ');
}

async function isScanned(text: string, schema = toSchema('logs')): Promise<boolean> {
  const batches: CodedBatch[] = [];
  const source = { kind: 'logs', bytes: gzipSync(text), chainId: 1, fileFrom: 0, schema } as const;
  for await (const batch of readCodedRows(source)) batches.push(batch);
  return batches.every(({ columns }) => Object.values(columns).every((column) => !Array.isArray(column)));
}

const hash = (digit: string): string => `0x${digit.repeat(64)}`;

function log(more: object = {}): Record<string, unknown> {
  return {
    removed: false,
    logIndex: '0x0',
    transactionIndex: '0x1',
    transactionHash: hash('a'),
    blockHash: hash('b'),
    blockNumber: '0x5',
    address: `0x${'c'.repeat(40)}`,
    data: '0x',
    topics: [hash('1'), hash('2')],
    ...more,
  };
}

/** Compares the rows of scanned logs with those of parsed ones, in every schema. */
async function compare(blocks: readonly Recorded[]): Promise<void> {
  const texts = blocks.flatMap(({ receipts }) => {
    if (receipts === undefined) return [];
    return [
      canonicalRecord(
        'logs',
        receipts.flatMap(({ logs }) => logs),
      ),
    ];
  });
  const text = `[${texts.join(',')}]`;
  expect(text.length).toBeGreaterThan(1_000);
  for (const schema of SCHEMAS) {
    expect(await getRows(text, schema)).toEqual(await getRows(declined(text), schema));
  }
  expect(await isScanned(text)).toBe(true);
}

describe.each(ALL)('logs of $title', (source) => {
  it('of today have the rows of parsed records, in every schema', () =>
    compare(source.blocks('row').slice(0, 2)));

  it('of every fork have the rows of parsed records, in every schema', () => compare(source.blocks('forks')));

  it('of Optimism have the rows of parsed records, in every schema', () =>
    compare(source.blocks('optimism')));
});

it('records with anything unusual have the rows, or the error, of parsed ones', async () => {
  const members = fc.record(
    {
      removed: fc.constantFrom(true, null, 0),
      logIndex: fc.constantFrom('0x7', 7, null, '0x80000000', '0x', 'x"y', 'é'),
      blockHash: fc.constantFrom(hash('d'), null, 'null', '', 1, [], {}),
      blockNumber: fc.constantFrom('0x6', '0xffffffffffffffff'),
      data: fc.constantFrom('0x00', '0x01', 'a\\b', 'a\nb', null),
      topics: fc.constantFrom([], [hash('1')], [hash('3'), '', hash('4'), hash('5'), hash('6')], null, [
        'x',
        null,
      ]),
      blockTimestamp: fc.constantFrom('0x64', null, 100, '0xfffffffffffffff'),
      chainId: fc.constantFrom('0x1', '0x2', 1, null),
      more: fc.constantFrom('0x1', null),
      'q\'"': fc.constant(1),
    },
    { requiredKeys: [] },
  );
  const often = fc.oneof({ weight: 6, arbitrary: fc.constant({}) }, { weight: 2, arbitrary: members });
  const record = fc
    .tuple(often, fc.boolean(), fc.integer({ min: 0, max: 19 }))
    .map(([more, reversed, dropped]) => {
      const entries = Object.entries(log(more)).filter((_, at) => at !== dropped || dropped % 2 === 0);
      return Object.fromEntries(reversed && dropped > 15 ? entries.reverse() : entries);
    });
  const bundle = fc.array(fc.array(record, { maxLength: 4 }), { maxLength: 3 });
  const end = fc.constantFrom(']', ']', ']', ']\n', ',]', '', ']]', '] x');
  await fc.assert(
    fc.asyncProperty(bundle, end, fc.constantFrom(...SCHEMAS), async (blocks, tail, schema) => {
      const text = `[${blocks.map((block) => JSON.stringify(block)).join(',')}${tail}`;
      const [scanned, parsed] = [await getRows(text, schema), await getRows(declined(text), schema)];
      expect(scanned.error === null).toBe(parsed.error === null);
      // What is before a fault may have been read by then.
      if (scanned.error === null) expect(scanned.rows).toEqual(parsed.rows);
    }),
    { numRuns: 300 },
  );
});

it('a block that is declined, and those behind it, are parsed; those before it are not', async () => {
  const blocks = [[log(), log()], [log({ more: '0x1' })], [log({ blockNumber: '0x7' })]];
  const text = JSON.stringify(blocks);
  const kinds: boolean[] = [];
  const source = { kind: 'logs', bytes: gzipSync(text), chainId: 1, fileFrom: 5 } as const;
  for await (const { columns } of readCodedRows(source)) kinds.push(Array.isArray(columns.data));
  expect(kinds).toEqual([false, true]);
  const { rows } = await getRows(text);
  expect(rows).toEqual((await getRows(declined(text))).rows);
  expect(rows.length).toBe(4);
});

it('a range of blocks has its rows and times', async () => {
  const text = JSON.stringify([
    [log()],
    [],
    [log({ blockNumber: '0x7' }), log({ blockTimestamp: undefined })],
  ]);
  for (const part of [{ from: 6 }, { to: 5 }, { from: 6, to: 6 }, { from: 7, to: 7 }, { batchRows: 1 }]) {
    expect(await getRows(text, undefined, part)).toEqual(await getRows(declined(text), undefined, part));
  }
});

it('more rows than there was room for, and more values than there were places for, are all there', async () => {
  const block = Array.from({ length: 20_000 }, (_, at) => log({ logIndex: `0x${at.toString(16)}` }));
  const text = JSON.stringify([block, [log()]]);
  const { rows } = await getRows(text);
  expect(rows.length).toBe(20_001);
  expect(rows).toEqual((await getRows(declined(text))).rows);
});
