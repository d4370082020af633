import { type CodedBatch, type CodedColumn, columnReader } from './coded-column.js';
import type { Column } from './schema.js';
import { FIELD_COLUMNS } from './schemas.js';

const PREFIX = 'receipt.';

/** Columns that transactions have of their receipts; those of receipts have the same names and forms. */
const COLUMNS = FIELD_COLUMNS.transactions.filter(({ field }) => field.startsWith(PREFIX));

/**
 * Rows of transactions with the columns of their receipts: rows of the same blocks, both as `toSchema` has them. The
 * receipt of a transaction is at its place in the block and has its hash; without one the columns are null.
 */
export function withReceipts(transactions: CodedBatch, receipts: CodedBatch): CodedBatch {
  const rowOf = matchRows(transactions, receipts);
  const columns = { ...transactions.columns };
  for (const { name } of COLUMNS) {
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
  columns.extra = withExtras(transactions, receipts, rowOf);
  return { rows: transactions.rows, columns };
}

/** For each transaction the row of its receipt, or -1. */
function matchRows(transactions: CodedBatch, receipts: CodedBatch): Int32Array {
  const block = columnReader(transactions, 'block_number') as (row: number) => number;
  const hash = columnReader(transactions, 'transaction_hash');
  const receiptBlock = columnReader(receipts, 'block_number') as (row: number) => number;
  const receiptHash = columnReader(receipts, 'transaction_hash');
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

/** The column `extra` of transactions, with what of their receipts no column can hold. */
function withExtras(transactions: CodedBatch, receipts: CodedBatch, rowOf: Int32Array): Column | CodedColumn {
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
    const names = new Set(COLUMNS.map(({ field }) => field.slice(PREFIX.length)));
    const found = [...names].filter((name) => name in parsed);
    if (found.length === 0) return extra;
    const more = Object.fromEntries(found.map((name) => [PREFIX + name, parsed[name]]));
    return JSON.stringify({ ...(extra === null ? {} : JSON.parse(extra)), ...more });
  });
}
