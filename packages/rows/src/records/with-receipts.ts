import { type CodedBatch, type CodedColumn, columnReader } from './coded-column.js';
import { type BlockRows, fieldsOf, hasExtra, toPartSchema, toSchema } from './read-columns.js';
import type { Column, Schema } from './schema.js';

const PREFIX = 'receipt.';
const HASH = 'transaction_hash';

/** What a table of transactions has of their receipts, by the same names, and the hashes of the transactions. */
export function toReceiptSchema(schema: Schema): Schema {
  const part = toPartSchema('receipts', [
    { name: HASH, form: 'hex', field: 'transactionHash', required: false },
    ...receiptFields(schema).map((each) => ({ ...each, field: each.field.slice(PREFIX.length) })),
  ]);
  return { ...part, keeps: hasExtra(schema) };
}

function receiptFields(schema: Schema): ReturnType<typeof fieldsOf> {
  return fieldsOf(schema).filter(({ field }) => field.startsWith(PREFIX));
}

/**
 * Rows of transactions with the columns of their receipts, which are rows of the same blocks with columns of these names. The
 * receipt of a transaction is at its place in the block and has its hash; without one the columns are null.
 */
export function withReceipts(
  transactions: CodedBatch | BlockRows,
  receipts: CodedBatch | BlockRows,
  schema: Schema = toSchema('transactions'),
): CodedBatch {
  const rowOf = matchRows(transactions, receipts);
  const fields = receiptFields(schema);
  const columns = { ...transactions.columns };
  for (const { name } of fields) {
    const column = receipts.columns[name] as Column | CodedColumn;
    if (Array.isArray(column)) {
      columns[name] = Array.from(rowOf, (row) => (row === -1 ? null : (column[row] ?? null)));
      continue;
    }
    const places = new Uint32Array(rowOf.length);
    // Place 0 is null.
    for (let row = 0; row < rowOf.length; row += 1) {
      const of = rowOf[row] as number;
      if (of !== -1) places[row] = column.places[of] as number;
    }
    columns[name] = { places, values: column.values };
  }
  const names = new Set(fields.map(({ field }) => field.slice(PREFIX.length)));
  if (columns.extra !== undefined) columns.extra = withExtras(transactions, receipts, rowOf, names);
  return { rows: transactions.rows, columns };
}

/** For each transaction the row of its receipt, or -1. */
function matchRows(transactions: CodedBatch | BlockRows, receipts: CodedBatch | BlockRows): Int32Array {
  const [block, receiptBlock] = [blockReader(transactions), blockReader(receipts)];
  const [hash, receiptHash] = [columnReader(transactions, HASH), columnReader(receipts, HASH)];
  const rowOf = new Int32Array(transactions.rows).fill(-1);
  let next = 0;
  for (let row = 0; row < transactions.rows; row += 1) {
    const number = block(row);
    while (next < receipts.rows && receiptBlock(next) < number) next += 1;
    if (next === receipts.rows || receiptBlock(next) !== number) continue;
    if (receiptHash(next) === hash(row)) rowOf[row] = next;
    next += 1;
  }
  return rowOf;
}

function blockReader(batch: CodedBatch | BlockRows): (row: number) => number {
  if ('blocks' in batch) return (row) => batch.blocks[row] as number;
  return columnReader(batch, 'block_number') as (row: number) => number;
}

/** The column `extra` of transactions, with what of their receipts no column can hold. */
function withExtras(
  transactions: CodedBatch,
  receipts: CodedBatch,
  rowOf: Int32Array,
  names: ReadonlySet<string>,
): Column | CodedColumn {
  const ofReceipts = receipts.columns.extra as Column | CodedColumn;
  const own = transactions.columns.extra as Column | CodedColumn;
  if (!Array.isArray(ofReceipts) && ofReceipts.values.length === 1) return own;
  const read = columnReader(receipts, 'extra');
  const readOwn = columnReader(transactions, 'extra');
  return Array.from(rowOf, (receipt, row) => {
    const text = receipt === -1 ? null : (read(receipt) as string | null);
    const extra = readOwn(row) as string | null;
    if (text === null) return extra;
    const parsed = JSON.parse(text) as Record<string, unknown>;
    const found = [...names].filter((name) => name in parsed);
    if (found.length === 0) return extra;
    const more = Object.fromEntries(found.map((name) => [PREFIX + name, parsed[name]]));
    return JSON.stringify({ ...(extra === null ? {} : JSON.parse(extra)), ...more });
  });
}
