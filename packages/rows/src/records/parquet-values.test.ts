import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CodedColumn, toPlainBatch } from './coded-column.js';
import type { Form } from './field-column.js';
import { FORMS } from './forms.js';
import { ParquetValues } from './parquet-values.js';
import { toPartSchema } from './read-columns.js';
import { readCodedRows } from './read-rows.js';
import type { Column } from './schema.js';

/** Reads values as columns of these forms; they are encoded if `isEncoded`. */
async function read(values: readonly unknown[], forms: readonly Form[], isEncoded = true): Promise<Column[]> {
  const fields = forms.map((form, at) => ({ name: `c${at}`, form, field: 'value', required: false }));
  const schema = toPartSchema('transactions', fields);
  const text = Buffer.from(JSON.stringify([values.map((value) => ({ value }))]));
  const rows: Column[] = forms.map(() => []);
  for await (const batch of readCodedRows({ kind: 'transactions', chainId: 1, fileFrom: 0, text, schema })) {
    const of = (at: number) => batch.columns[`c${at}`] as CodedColumn;
    if (isEncoded) expect(forms.every((_, at) => of(at).values instanceof ParquetValues)).toBe(true);
    const plain = toPlainBatch(batch);
    for (const [at, row] of rows.entries()) row.push(...(plain.columns[`c${at}`] as Column));
  }
  return rows;
}

const hex = (value: bigint): string => `0x${value.toString(16)}`;
const around = (value: bigint): bigint[] => [value - 1n, value, value + 1n];
/** Numbers beside powers of two, and halves between two doubles. */
const EDGES = [
  0n,
  9n,
  10n,
  ...[31n, 52n, 53n, 63n, 64n, 65n, 127n, 128n, 129n, 192n, 255n].flatMap((bits) => around(2n ** bits)),
  ...[54n, 63n, 64n, 70n, 128n, 200n].flatMap((bits) => around(2n ** bits + 2n ** (bits - 53n))),
  ...[65n, 131n, 250n].flatMap((bits) => around(2n ** bits + 3n * 2n ** (bits - 53n))),
  ...[9n, 18n, 27n, 38n, 76n].flatMap((digits) => around(10n ** digits)),
  2n ** 256n - 1n,
];
const numbers = fc.array(fc.oneof(fc.constantFrom(...EDGES), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })), {
  minLength: 1,
  maxLength: 20,
});

it.each<[Form[], bigint]>([
  [['DOUBLE', 'decimal text', 'hex'], 2n ** 256n],
  [['DECIMAL(38,0)', 'DOUBLE', 'decimal text'], 10n ** 38n],
  [['BIGINT', 'DOUBLE'], 2n ** 63n],
  [['INTEGER'], 2n ** 31n],
])('values are those of the forms %s', async (forms, end) => {
  await fc.assert(
    fc.asyncProperty(numbers, async (found) => {
      const values = found.filter((value) => value < end).map(hex);
      if (values.length === 0) return;
      const expected = forms.map((form) => values.map((value) => FORMS[form].read(value)));
      expect(await read(values, forms)).toEqual(expected);
    }),
  );
});

it.each<[Form, unknown[]]>([
  ['BIGINT', [0, 7, 10 ** 15 - 1, '0x00', '0x007', null, 17_686_110]],
  ['INTEGER', [0, 2 ** 31 - 1, '0x7fffffff']],
  ['DOUBLE', ['0x00ff', null]],
  ['decimal text', ['0x0000', '0x00ff', null]],
  ['DECIMAL(38,0)', [`0x${'0'.repeat(70)}1`]],
  ['TEXT', ['', 'a b', 'x'.repeat(70_000), null]],
])('the same of %s: %j', async (form, values) => {
  expect(await read(values, [form])).toEqual([
    values.map((value) => (value === null ? null : FORMS[form].read(value))),
  ]);
});

it.each<[Form, unknown[]]>([
  ['BIGINT', ['0x1', hex(2n ** 63n)]],
  ['BIGINT', ['0x1', '0x0000000000000001', 2 ** 53 - 1, -1, 1.5]],
  ['INTEGER', ['0x1', hex(2n ** 31n), '0xG', '1', '0x', true]],
  ['DECIMAL(38,0)', ['0x1', 5]],
  ['TEXT', ['a', 5, true, ['x']]],
  ['DOUBLE', ['0x1', '0x1G', '0xAB']],
])('what %s cannot encode is left to the reader of objects: %j', async (form, values) => {
  const [found] = await read(values, [form], false).catch(() => [null]);
  if (found !== null) expect(found).toEqual(values.map((value) => FORMS[form].read(value)));
});
