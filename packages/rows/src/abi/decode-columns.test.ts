import { expect, it } from 'vitest';
import type { Column, RowBatch, Schema } from '../records/schema.js';
import type { AbiInput } from './abi-types.js';
import { compileAbi } from './compile-abi.js';
import { abiColumns } from './decode-columns.js';

const SCHEMA: Schema = { name: 'logs-1', kind: 'logs', columns: [{ name: 'data', type: 'TEXT' }] };
const word = (value: bigint | number): string =>
  BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0');

/** The rows of logs that have only the first topic. */
function toRows(...logs: [topic0: string | null, words: (bigint | number | string)[]][]): RowBatch {
  const data = logs.map(
    ([, words]) => `0x${words.map((each) => (typeof each === 'string' ? each : word(each))).join('')}`,
  );
  const none = logs.map(() => null);
  return {
    rows: logs.length,
    columns: { topic0: logs.map(([topic]) => topic), topic1: none, topic2: none, topic3: none, data },
  };
}

/** The column specs of an ABI, and the cells of one log of its first event. */
async function one(
  abi: AbiInput,
  ...words: (bigint | number | string)[]
): Promise<Record<string, [string, Column[number] | undefined]>> {
  const decoder = await compileAbi(abi);
  const columns = abiColumns(decoder, {});
  const { columns: cells } = columns.extend(toRows([decoder.events[0]?.topic0 as string, words]));
  const { columns: specs } = columns.schema(SCHEMA);
  return Object.fromEntries(specs.slice(2).map(({ name, type }) => [name, [type, cells[name]?.[0]]]));
}

it.each<[string, (bigint | number | string)[], Record<string, [string, Column[number]]>]>([
  ['uint8', [5], { arg_x: ['BIGINT', 5] }],
  ['uint56', [2n ** 56n - 1n], { arg_x: ['BIGINT', 2n ** 56n - 1n] }],
  ['int64', [-5], { arg_x: ['BIGINT', -5] }],
  [
    'uint64',
    [2n ** 64n - 1n],
    { arg_x: ['DECIMAL(38,0)', 2n ** 64n - 1n], arg_x_double: ['DOUBLE', 2 ** 64] },
  ],
  ['uint256', [7], { arg_x: ['DECIMAL(38,0)', 7n], arg_x_double: ['DOUBLE', 7], arg_x_text: ['TEXT', '7'] }],
  [
    'int256',
    [-(10n ** 38n)],
    {
      arg_x: ['DECIMAL(38,0)', null],
      arg_x_double: ['DOUBLE', -1e38],
      arg_x_text: ['TEXT', `-1${'0'.repeat(38)}`],
    },
  ],
  ['bool', [1], { arg_x: ['BOOLEAN', true] }],
  ['address', [1], { arg_x: ['TEXT', `0x${'0'.repeat(39)}1`] }],
  ['string', [32, 1, '61'.padEnd(64, '0')], { arg_x: ['TEXT', 'a'] }],
  ['string', [32, 2, '6100'.padEnd(64, '0')], { arg_x: ['TEXT', '0x6100'] }],
  ['uint256[]', [32, 2, 1, 2n ** 255n], { arg_x: ['JSON', `["1","${2n ** 255n}"]`] }],
  ['(bool a, uint8 b)', [1, 2], { arg_x: ['JSON', '{"a":true,"b":2}'] }],
])('%s %s becomes its columns', async (type, words, columns) => {
  expect(await one([`event E(${type} x)`], ...words)).toEqual(columns);
});

it('arguments of one name share a column if they have one type', async () => {
  const decoder = await compileAbi([
    'event A(uint8 a, bool b)',
    'event B(uint8 a, string b, bool B)',
    'event C(string a_text, uint256 a)',
  ]);
  const columns = abiColumns(decoder, {});
  expect(columns.schema(SCHEMA).columns.map(({ name }) => name)).toEqual([
    'data',
    'event',
    'arg_a',
    'arg_b',
    'arg_b_string',
    'arg_b_bool',
    'arg_a_text',
    'arg_a_uint256',
    'arg_a_uint256_double',
    'arg_a_uint256_text',
  ]);
  const [a, b] = decoder.events.map(({ topic0 }) => topic0 as string) as [string, string];
  const text = [2, 96, 0, 1, '7a'.padEnd(64, '0')];
  const { columns: cells } = columns.extend(toRows([a, [1, 1]], [b, text], [a, [300, 1]], [null, []]));
  expect(cells).toMatchObject({
    event: ['A', 'B', null, null],
    arg_a: [1, 2, null, null],
    arg_b: [true, null, null, null],
    arg_b_string: [null, 'z', null, null],
    arg_b_bool: [null, false, null, null],
  });
  expect(columns.undecoded).toBe(2);
});

it('names are of a form that SQL takes, whatever the ABI has', async () => {
  const inputs = ['tokenId', '_from', 'from', 'sqrtPriceX96', 'a"; DROP', 'x'.repeat(300), '€'].map(
    (name) => ({
      name,
      type: 'bool',
    }),
  );
  const decoder = await compileAbi([{ type: 'event', name: 'E', inputs }]);
  expect(
    abiColumns(decoder, {})
      .schema(SCHEMA)
      .columns.slice(2)
      .map(({ name }) => name),
  ).toEqual([
    'arg_token_id',
    'arg_from',
    'arg_from_bool',
    'arg_sqrt_price_x96',
    'arg_a_drop',
    `arg_${'x'.repeat(36)}`,
    'arg_',
  ]);
});

it('only events that are asked for have columns, and the name of the schema tells which', async () => {
  const decoder = await compileAbi(['event A(uint8 a)', 'event B(uint8 b)']);
  const topics = decoder.events.map(({ topic0 }) => [topic0 as string]);
  const schemas = topics.map((topic0) => abiColumns(decoder, { topics: [topic0] }).schema(SCHEMA));
  expect(schemas.map(({ columns }) => columns.map(({ name }) => name))).toEqual([
    ['data', 'event', 'arg_a'],
    ['data', 'event', 'arg_b'],
  ]);
  expect(schemas[0]?.name).toMatch(/^logs-1\+abi-[0-9a-f]{8}$/);
  const others = await compileAbi(['event A(uint8 indexed a)']);
  const names = [...schemas, abiColumns(others, {}).schema(SCHEMA)].map(({ name }) => name);
  expect(new Set(names).size).toBe(3);
});
