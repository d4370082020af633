import type { Kind, TableName } from '@packhouse/chain';
import {
  type CodedBatch,
  type ColumnSpec,
  columnReader,
  readTransfers,
  type Schema,
  TRANSFER_PARTS,
  TRANSFERS,
  toSchema,
  withReceipts,
  withTransferParts,
} from '@packhouse/rows';
import { createRowsQueue } from './rows-queue.js';

/** The columns of a table of the lake, and their version. */
export function tableSchema(table: TableName): { name: string; columns: readonly ColumnSpec[] } {
  return table === 'transfers' ? TRANSFERS : toSchema(table);
}

/** The kinds that a table is made of: a block has rows if it has the first, and they say what they have of the others. */
export function kindsOf(table: TableName): readonly Kind[] {
  if (table === 'transfers') return ['logs', 'traces', 'blocks'];
  return table === 'transactions' ? ['transactions', 'receipts'] : [table];
}

/** Those of them that a network keeps; none: it has no such table. */
export function needsOf(table: TableName, kinds: readonly Kind[]): readonly Kind[] {
  const needs = kindsOf(table).filter((kind) => kinds.includes(kind));
  return needs[0] === kindsOf(table)[0] ? needs : [];
}

/** About how many bytes a table has for one of the bundles of its first kind: measured on blocks of mainnet. */
const SHARES: Readonly<Record<TableName, number>> = {
  blocks: 0.01,
  transactions: 0.5,
  receipts: 0.5,
  logs: 0.75,
  traces: 0.6,
  transfers: 0.9,
};

/** About how many bytes the rows of bundles of the first kind have in a file. */
export function expectedBytes(table: TableName, bundleBytes: number): number {
  return bundleBytes * SHARES[table];
}

/** What is read of a kind for these tables, which need it. */
export function schemaToRead(kind: Kind, tables: readonly TableName[]): Schema {
  if (!tables.includes('transfers')) return toSchema(kind);
  if (tables.length > 1) return withTransferParts(kind);
  return TRANSFER_PARTS[kind as keyof typeof TRANSFER_PARTS];
}

/** The rows of a table of blocks, from all rows of these blocks by kind. Throws RECORD_INVALID. */
export async function* toTableRows(
  table: TableName,
  chainId: number,
  rows: Partial<Record<Kind, readonly CodedBatch[]>>,
): AsyncGenerator<CodedBatch, void, undefined> {
  if (table === 'transfers') yield* readTransfers(rows, chainId);
  else if (table === 'transactions') yield* outcomes(rows.transactions ?? [], rows.receipts ?? []);
  else yield* rows[table] ?? [];
}

/** Rows of transactions with the columns of their receipts, in pieces of one batch of each. */
function* outcomes(
  transactions: readonly CodedBatch[],
  receipts: readonly CodedBatch[],
): Generator<CodedBatch, void, undefined> {
  const waiting = createRowsQueue();
  for (const batch of transactions) waiting.add(batch);
  for (const batch of receipts) {
    const last = columnReader(batch, 'block_number')(batch.rows - 1) as number;
    for (const piece of waiting.take(last)) yield withReceipts(piece, batch);
  }
  yield* waiting.take(Number.POSITIVE_INFINITY);
}
