import { type CodedBatch, type CodedColumn, valueAt } from './coded-column.js';
import { fieldsOf, toPartSchema } from './read-columns.js';
import type { Column, Schema } from './schema.js';

/** Name of the column that tells which transaction a receipt is of. */
export const RECEIPT_HASH = '@hash';

const PREFIX = 'receipt.';
const known = new WeakMap<Schema, Schema>();

/** What a table of transactions has of their receipts, by the same names, and their hashes. */
export function toReceiptSchema(schema: Schema): Schema {
  const made = known.get(schema);
  if (made !== undefined) return made;
  const fields = fieldsOf(schema).filter(({ field }) => field.startsWith(PREFIX));
  const part = toPartSchema('receipts', [
    { name: RECEIPT_HASH, form: 'hex', field: 'transactionHash', required: true },
    ...fields.map((each) => ({ ...each, field: each.field.slice(PREFIX.length) })),
  ]);
  known.set(schema, part);
  return part;
}

/** The column of this name, from the receipts of blocks in their order; null where a row is not of the receipt at its place. */
export function receiptColumn(
  name: string,
  blocks: readonly { rows: number; receipts: CodedBatch | null }[],
  isOwn: Uint8Array,
): CodedColumn {
  const places = new Uint32Array(isOwn.length);
  const values: Column = [null];
  let row = 0;
  for (const { rows, receipts } of blocks) {
    const column = receipts?.columns[name] as CodedColumn | undefined;
    if (column !== undefined) {
      // The first value of each block is null again.
      const offset = values.length - 1;
      for (let at = 1; at < column.values.length; at += 1) values.push(valueAt(column.values, at));
      for (let at = 0; at < rows; at += 1) {
        const place = column.places[at] as number;
        if (isOwn[row + at] === 1 && place > 0) places[row + at] = offset + place;
      }
    }
    row += rows;
  }
  return { places, values };
}
