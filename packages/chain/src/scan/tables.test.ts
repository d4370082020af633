import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RECEIPT_FIELDS, TRACE_FIELDS, TRANSACTION_FIELDS } from '../record/fields.js';
import { OBJECTS, ORDERS, TABLES_AT, TABLES_END, writeTables } from './tables.js';

const source = (name: string): string =>
  readFileSync(new URL(`../../kernel/${name}.ts`, import.meta.url), 'utf8');

/** Numbers of the kernel by name: `TX_GAS_PRICE` is 4. */
const numbers = new Map(
  [...source('fields').matchAll(/^export const (\w+): u32 = (\w+);$/gm)].map(([, name, value]) => [
    name!,
    Number(value),
  ]),
);

const OF_PREFIX = { TX: 0, RECEIPT: 1, LOG: 2, TRACE: 3, ACTION: 4, RESULT: 5, AUTHORIZATION: 6 } as const;

it('has the fields of the kernel in the same places', () => {
  let compared = 0;
  for (const [name, number] of numbers) {
    const [, prefix, rest] = /^([A-Z]+)_(\w+)$/.exec(name) ?? [];
    const object = OBJECTS[OF_PREFIX[prefix as keyof typeof OF_PREFIX] ?? -1];
    const field = rest?.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (object === undefined || !object.names.includes(field!)) continue;
    expect([name, object.names.indexOf(field!)]).toEqual([name, number]);
    compared++;
  }
  // All but those of forms, objects and orders.
  expect(compared).toBe(
    [...numbers.keys()].filter((name) => /^(TX|RECEIPT|LOG|TRACE|ACTION|RESULT|AUTHORIZATION)_/.test(name))
      .length - NOT_FIELDS.length,
  );
});

/** Numbers of orders and forms that look like fields. */
const NOT_FIELDS = ['TRACE_REWARD', 'ACTION_OBJECT', 'RESULT_OBJECT'];

it('writes what the format names in its order', () => {
  const known = (table: { spec: ReadonlySet<string> }, order: number): void => {
    const spec = [...table.spec];
    expect(ORDERS[order]!.names.slice(0, spec.length)).toEqual(spec);
  };
  known(TRANSACTION_FIELDS, 0);
  known(RECEIPT_FIELDS, 1);
  known(TRACE_FIELDS, 3);
});

it('stands where the memory of the kernel has its room', () => {
  const memory = source('memory');
  expect(memory).toContain(`TABLES: usize = 0x${TABLES_AT.toString(16)};`);
  expect(memory).toContain(`TABLES_END: usize = 0x${TABLES_END.toString(16)};`);
  expect(writeTables()).toHaveLength(TABLES_END - TABLES_AT);
});
