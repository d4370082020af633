import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import fc from 'fast-check';
import { asyncBufferFromFile, type Compressors, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CodedBatch, type CodedColumn, toPlainBatch } from '../records/coded-column.js';
import { ParquetValues } from '../records/parquet-values.js';
import { toSchema } from '../records/read-columns.js';
import { readCodedRows } from '../records/read-rows.js';
import { type Column, type ColumnType, type RowBatch, type Schema, toBytes } from '../records/schema.js';
import { createParquetFile } from './parquet-file.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-parquet-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A column of each type, with and without nulls. */
const VALUES: Record<ColumnType, fc.Arbitrary<Column[number]>> = {
  BIGINT: fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  INTEGER: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  'DECIMAL(38,0)': fc.bigInt({ min: 1n - 10n ** 38n, max: 10n ** 38n - 1n }),
  TEXT: fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(`0x${'ab'.repeat(700)}`)),
  JSON: fc.json(),
  BOOLEAN: fc.boolean(),
  TIMESTAMP: fc.integer({ min: 0, max: 253_402_300_799 }),
  BYTEA: fc.uint8Array({ maxLength: 40 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
  UBIGINT: fc.oneof(fc.maxSafeNat(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  UINTEGER: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  DOUBLE: fc.double({ noNaN: true, noDefaultInfinity: true }),
};
const TYPES = Object.keys(VALUES) as ColumnType[];
const schema: Schema = {
  name: 'logs-1',
  kind: 'logs',
  columns: TYPES.flatMap((type, at) => [
    { name: `c${at}`, type, required: true },
    { name: `n${at}`, type },
  ]),
};
const rows = fc.array(
  fc.record(
    Object.fromEntries(
      TYPES.flatMap((type, at) => [
        [`c${at}`, VALUES[type]],
        [`n${at}`, fc.option(VALUES[type])],
      ]),
    ),
  ),
  { minLength: 1, maxLength: 30 },
);
type Row = Record<string, Column[number]>;

/** A row with the least of every column. */
const LEAST: Row = {
  ...Object.fromEntries(schema.columns.map(({ name }) => [name, null])),
  c0: 1,
  c1: 1,
  c2: 1n,
  c3: '',
  c4: '',
  c5: true,
  c6: 0,
  c7: '0x',
  c8: 0,
  c9: 0,
  c10: 0,
};

function toBatch(rows: readonly Row[]): RowBatch {
  const columns = schema.columns.map(({ name }) => [name, rows.map((row) => row[name] as Column[number])]);
  return { rows: rows.length, columns: Object.fromEntries(columns) as RowBatch['columns'] };
}

async function written(name: string, batches: readonly CodedBatch[]): Promise<string> {
  const file = createParquetFile(path.join(folder, name), { schema, network: 'ethereum' });
  for (const batch of batches) await file.write(batch);
  await file.finish();
  return path.join(folder, name);
}

const zstd = zlib as { zstdDecompressSync?: (bytes: Uint8Array) => Buffer };
const compressors: Compressors = {
  GZIP: (bytes) => zlib.gunzipSync(bytes),
  ZSTD: (bytes) => zstd.zstdDecompressSync?.(bytes) ?? bytes,
};

/** What a reader of the file has for a value: bigints for 64 bits, dates, and floats for decimals. */
function asRead(type: ColumnType, value: Column[number]): unknown {
  if (value === null) return null;
  if (type === 'BIGINT' || type === 'UBIGINT') return BigInt(value as bigint);
  if (type === 'DECIMAL(38,0)') return Number(value);
  if (type === 'BYTEA') return new Uint8Array(toBytes(value));
  return type === 'TIMESTAMP' ? new Date((value as number) * 1_000) : value;
}

it('a reader of Parquet has every value again', async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(rows, { minLength: 1, maxLength: 3 }), async (batches) => {
      number += 1;
      const name = await written(`${number}.parquet`, (batches as Row[][]).map(toBatch));
      const read = await parquetReadObjects({
        file: await asyncBufferFromFile(name),
        compressors,
        utf8: false,
      });
      const expected = (batches as Row[][])
        .flat()
        .map((row) =>
          Object.fromEntries(
            schema.columns.map((column) => [
              column.name,
              asRead(column.type, row[column.name] as Column[number]),
            ]),
          ),
        );
      expect(read.length).toBe(expected.length);
      for (const [at, row] of read.entries()) expect(row).toEqual(expected[at]);
    }),
    { numRuns: 30 },
  );
});

it('coded columns make the same file as plain ones, whether values repeat or not', async () => {
  const [some] = fc.sample(fc.array(rows, { minLength: 400, maxLength: 400 }), { numRuns: 1, seed: 7 });
  const all = (some as Row[][]).flat().map((row, at) => ({ ...row, c3: `0x${at.toString(16)}` }));
  const repeated = [...all, ...all, ...all, ...all];
  const batches = [repeated.slice(0, 700), repeated.slice(700)].map(toBatch);
  const values = new Map(schema.columns.map(({ name }) => [name, new Map<unknown, number>([[null, 0]])]));
  const lists = new Map(schema.columns.map(({ name }) => [name, [null] as Column]));
  const coded = batches.map(({ rows, columns }) => ({
    rows,
    columns: Object.fromEntries(
      Object.entries(columns).map(([name, column]) => {
        const [known, list] = [values.get(name) as Map<unknown, number>, lists.get(name) as Column];
        const places = column.map((value) => {
          // A Map has one key for both zeros.
          const key = Object.is(value, -0) ? '-0' : value;
          const place = known.get(key) ?? list.push(value) - 1;
          known.set(key, place);
          return place;
        });
        return [name, { places: Uint32Array.from(places), values: list }];
      }),
    ),
  }));
  const [plain, other] = [await written('plain.parquet', batches), await written('coded.parquet', coded)];
  expect((await readFile(other)).equals(await readFile(plain))).toBe(true);
});

it('a decimal keeps its 38 digits, and the file says what it is', async () => {
  const most = 10n ** 38n - 1n;
  const row = { ...LEAST, c2: most, c3: '0x12' };
  const file = await asyncBufferFromFile(await written('one.parquet', [toBatch([row])]));
  const { schema: elements, key_value_metadata, row_groups } = await parquetMetadataAsync(file);
  expect(elements.find(({ name }) => name === 'c2')).toMatchObject({
    converted_type: 'DECIMAL',
    precision: 38,
  });
  expect(key_value_metadata).toContainEqual({ key: 'packhouse.schema', value: 'logs-1' });
  const statistics = row_groups[0]?.columns[4]?.meta_data?.statistics;
  expect(row_groups[0]?.columns[4]?.meta_data?.path_in_schema).toEqual(['c2']);
  expect(statistics).toBeDefined();
  expect(
    row_groups[0]?.columns.find((one) => one.meta_data?.path_in_schema[0] === 'c3')?.meta_data?.statistics,
  ).toMatchObject({ min_value: '0x12', max_value: '0x12' });
  expect(row_groups[0]?.columns[3]?.meta_data?.bloom_filter_offset).toBeUndefined();
});

it('a file without rows has its columns', async () => {
  const file = await asyncBufferFromFile(await written('none.parquet', []));
  const { schema: elements, num_rows } = await parquetMetadataAsync(file);
  expect(num_rows).toBe(0n);
  expect(elements.slice(1).map(({ name }) => name)).toEqual(schema.columns.map(({ name }) => name));
});

it('row groups are bounded, and follow the order of the rows', async () => {
  const batch = (first: number): RowBatch => {
    return toBatch(Array.from({ length: 8_192 }, (_, i) => ({ ...LEAST, c0: first + i })));
  };
  const batches = Array.from({ length: 16 }, (_, i) => batch(i * 8_192));
  const file = await asyncBufferFromFile(await written('groups.parquet', batches));
  const { row_groups } = await parquetMetadataAsync(file);
  const bounds = row_groups.map(({ columns }) => columns[0]?.meta_data?.statistics);
  expect(bounds.map((one) => [one?.min_value, one?.max_value])).toEqual([
    [0n, 122_879n],
    [122_880n, 131_071n],
  ]);
});

it('values that hardly repeat, in several pages, are read again; bounds are of ASCII texts alone', async () => {
  const wide: Schema = {
    name: 'wide-1',
    kind: 'logs',
    columns: [
      { name: 'unique', type: 'TEXT', required: true },
      { name: 'runs', type: 'TEXT' },
      { name: 'mixed', type: 'BIGINT' },
      { name: 'foreign', type: 'TEXT' },
    ],
  };
  const rows = 20_000;
  const columns: Record<string, Column> = {
    // Repeats at first, and then no more: 2 MB.
    unique: Array.from({ length: rows }, (_, n) => `0x${String(n < 3_000 ? n % 3 : n).padStart(100, '0')}`),
    runs: Array.from({ length: rows }, (_, n) => (n % 700 < 90 ? null : `t${Math.floor(n / 33) % 300}`)),
    mixed: Array.from({ length: rows }, (_, n) => (n % 3 === 0 ? null : n % 1_000)),
    foreign: Array.from({ length: rows }, (_, n) => (n === 7 ? 'é' : 'e')),
  };
  const name = path.join(folder, 'wide.parquet');
  const file = createParquetFile(name, { schema: wide, network: 'ethereum' });
  await file.write({ rows, columns });
  await file.finish();
  const buffer = await asyncBufferFromFile(name);
  const read = await parquetReadObjects({ file: buffer, compressors });
  const big = (value: unknown): unknown => (typeof value === 'number' ? BigInt(value) : value);
  for (const { name: column } of wide.columns) {
    expect(read.map((row) => row[column])).toEqual(columns[column]?.map(big));
  }
  const { row_groups } = await parquetMetadataAsync(buffer);
  const [unique, runs, , foreign] = row_groups[0]?.columns.map(({ meta_data }) => meta_data) ?? [];
  const sorted = columns.runs?.filter((value) => value !== null).sort() ?? [];
  expect(runs?.statistics).toMatchObject({ min_value: sorted[0], max_value: sorted.at(-1) });
  expect(unique?.encodings).toEqual(['PLAIN']);
  expect(runs?.encodings).toContain('RLE_DICTIONARY');
  expect(foreign?.statistics).toEqual({ null_count: 0n });
});

/** The rows of logs of one block after another. */
async function readLogs(blocks: readonly (readonly object[])[], space = ''): Promise<CodedBatch[]> {
  const text = Buffer.from(
    `[${blocks.map((logs) => JSON.stringify(logs)).join(',')}]`.replace('{"address', `{${space}"address`),
  );
  const batches: CodedBatch[] = [];
  for await (const batch of readCodedRows({ kind: 'logs', chainId: 1, fileFrom: 0, text, batchRows: 500 })) {
    batches.push(batch);
  }
  return batches;
}

const log = (block: number, index: number): object => ({
  address: `0x${String(index % 7).repeat(40)}`,
  blockHash: `0x${String(block % 10).repeat(64)}`,
  blockNumber: `0x${block.toString(16)}`,
  data: `0x${(block * 1_000 + index)
    .toString(16)
    .padStart(64, '0')
    .repeat(index % 11)}`,
  logIndex: `0x${index.toString(16)}`,
  removed: false,
  topics: [`0x${'d'.repeat(64)}`, `0x${(index * 31).toString(16).padStart(64, '0')}`].slice(0, index % 3),
  transactionHash: `0x${(block * 1_000 + index).toString(16).padStart(64, '0')}`,
  transactionIndex: '0x1',
});
const someLogs = (firstBlock: number): object[][] =>
  Array.from({ length: 40 }, (_, at) =>
    Array.from({ length: 150 }, (__, index) => log(firstBlock + at, index)),
  );

async function writeLogs(name: string, batches: readonly CodedBatch[]): Promise<Buffer> {
  const file = createParquetFile(path.join(folder, name), { schema: toSchema('logs'), network: 'ethereum' });
  for (const [at, batch] of batches.entries()) {
    await file.write(batch);
    if (at % 9 === 8) file.endGroup();
  }
  await file.finish();
  return readFile(path.join(folder, name));
}

it('values that were encoded while they were read make the same file as others, byte for byte', async () => {
  const coded = [...(await readLogs(someLogs(0))), ...(await readLogs(someLogs(40)))];
  expect(coded.some(({ columns }) => (columns.data as CodedColumn).values instanceof ParquetValues)).toBe(
    true,
  );
  const plain = await writeLogs('plain', coded.map(toPlainBatch));
  expect((await writeLogs('coded', coded)).equals(plain)).toBe(true);
});

it('a row group may have both, and has the bounds of both', async () => {
  const usual = await readLogs(someLogs(50));
  const unusual = await readLogs(someLogs(10), ' ');
  expect(unusual.every(({ columns }) => Array.isArray(columns.data))).toBe(true);
  for (const batches of [
    [...unusual, ...usual],
    [...usual, ...unusual],
  ]) {
    const some = [...batches.slice(0, 4), ...batches.slice(-4)];
    await writeLogs('both', some);
    const file = await asyncBufferFromFile(path.join(folder, 'both'));
    const found = await parquetReadObjects({ file, compressors });
    const expected = some.map(toPlainBatch).flatMap(({ columns }) => columns.data as string[]);
    expect(found.map(({ data }) => data)).toEqual(expected);
    const blocks = some.map(toPlainBatch).flatMap(({ columns }) => columns.block_number as number[]);
    const { row_groups } = await parquetMetadataAsync(file);
    expect(row_groups).toHaveLength(1);
    expect(row_groups[0]?.columns[0]?.meta_data?.statistics).toMatchObject({
      min_value: BigInt(Math.min(...blocks)),
      max_value: BigInt(Math.max(...blocks)),
    });
  }
});
