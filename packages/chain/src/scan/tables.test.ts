import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RECEIPT_FIELDS, TRACE_FIELDS, TRANSACTION_FIELDS } from '../record/fields.js';
import { DEPOSIT } from '../record/transaction.js';
import { TRANSACTION_TYPE_FIELDS } from '../record/type-fields.js';
import { getTables, OBJECTS, ORDERS } from './tables.js';

const source = (name: string): string =>
  readFileSync(new URL(`../../../kernels/kernel/scan/${name}.ts`, import.meta.url), 'utf8');

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
const NOT_FIELDS = ['TRACE_REWARD', 'ACTION_OBJECT', 'RESULT_OBJECT', 'RECEIPT_BLOB', 'RECEIPT_DEPOSIT'];

it('writes what the format names in its order', () => {
  const known = ({ spec }: { spec: ReadonlySet<string> }, orders: readonly number[]): void => {
    const written = new Set<string>();
    for (const order of orders) {
      const { names } = ORDERS[order]!;
      const own = [...spec].filter((name) => names.includes(name));
      expect(names.slice(0, own.length)).toEqual(own);
      for (const name of own) written.add(name);
    }
    expect(written).toEqual(spec);
  };
  known(TRANSACTION_FIELDS, OF_TRANSACTIONS);
  for (const order of OF_RECEIPTS) known(RECEIPT_FIELDS, [order]);
  known(TRACE_FIELDS, [3]);
});

const OF_TRANSACTIONS = [0, 16, 17, 18, 19, 14];
const OF_RECEIPTS = [1, 20, 21];

it('allows fields of a type only to that type', () => {
  const allowing = (orders: readonly number[], name: string): number[] =>
    orders.filter((order) => ORDERS[order]!.names.includes(name));
  const kinds = [0, 1, 2, 3, 4, DEPOSIT];
  for (const { name, types } of TRANSACTION_TYPE_FIELDS) {
    const orders = types.map((kind) => OF_TRANSACTIONS[kinds.indexOf(kind)]!);
    expect([name, allowing(OF_TRANSACTIONS, name)]).toEqual([name, orders]);
  }
  expect(allowing(OF_RECEIPTS, 'blobGasPrice')).toEqual([20]);
  expect(allowing(OF_RECEIPTS, 'depositNonce')).toEqual([21]);
  expect(allowing(OF_RECEIPTS, 'depositReceiptVersion')).toEqual([21]);
});

it('fits into the memory that the kernel has for it', () => {
  expect(getTables()).toHaveLength(0x30000);
});
