import type { Column, RowBatch } from './schema.js';

/**
 * A column that has each of its values once: the row at `n` has `values[places[n]]`. `values` only grows: batches of
 * the same bundle share it.
 */
export interface CodedColumn {
  places: Uint32Array;
  values: Column;
}

/** Rows whose columns may be coded. */
export interface CodedBatch {
  rows: number;
  columns: Record<string, Column | CodedColumn>;
}

/** The same rows, with a value for each. */
export function toPlainBatch({ rows, columns }: CodedBatch): RowBatch {
  const entries = Object.entries(columns).map(([name, column]) => [name, toPlainColumn(column)] as const);
  return { rows, columns: Object.fromEntries(entries) };
}

function toPlainColumn(column: Column | CodedColumn): Column {
  if (Array.isArray(column)) return column;
  const { places, values } = column;
  const plain: Column = [];
  for (let at = 0; at < places.length; at += 1) plain.push(values[places[at] as number] ?? null);
  return plain;
}

/** The rows of blocks from one to another. */
export function rowsWithin(batch: CodedBatch, from: number, to: number): RowBatch {
  const { columns } = toPlainBatch(batch);
  const kept = (columns.block_number as number[]).flatMap((block, row) =>
    block >= from && block <= to ? [row] : [],
  );
  const entries = Object.entries(columns).map(([name, column]) => [
    name,
    kept.map((row) => column[row] as Column[number]),
  ]);
  return { rows: kept.length, columns: Object.fromEntries(entries) };
}
