import type { ParquetValues } from './parquet-values.js';
import type { Column, RowBatch } from './schema.js';

/**
 * A column that has each of its values once: the row at `n` has `values[places[n]]`. `values` only grows: batches of
 * the same bundle share it.
 */
export interface CodedColumn {
  places: Uint32Array;
  values: Column | ParquetValues;
}

/** The value at a place of a coded column. */
export function valueAt(values: Column | ParquetValues, place: number): Column[number] {
  return Array.isArray(values) ? (values[place] ?? null) : values.get(place);
}

/** Rows whose columns may be coded. */
export interface CodedBatch {
  rows: number;
  columns: Record<string, Column | CodedColumn>;
}

/** The rows from one to before another, as views where they are coded. */
export function sliceBatch({ columns }: CodedBatch, from: number, to: number): CodedBatch {
  const entries = Object.entries(columns).map(([name, column]) => {
    if (Array.isArray(column)) return [name, column.slice(from, to)] as const;
    return [name, { places: column.places.subarray(from, to), values: column.values }] as const;
  });
  return { rows: to - from, columns: Object.fromEntries(entries) };
}

/** Reads the values of a column by their rows. Throws RangeError if there is no such column. */
export function columnReader({ columns }: CodedBatch, name: string): (row: number) => Column[number] {
  const column = columns[name];
  if (column === undefined) throw new RangeError(`the rows have no column ${name}`);
  if (Array.isArray(column)) return (row) => column[row] ?? null;
  const { places, values } = column;
  if (Array.isArray(values)) return (row) => values[places[row] as number] ?? null;
  return (row) => values.get(places[row] as number);
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
  for (let at = 0; at < places.length; at += 1) plain.push(valueAt(values, places[at] as number));
  return plain;
}

/** Some of the rows, with a value for each. */
export function takeRows(batch: CodedBatch, rows: readonly number[]): RowBatch {
  const names = Object.keys(batch.columns);
  const columns = names.map((name) => [name, rows.map(columnReader(batch, name))] as const);
  return { rows: rows.length, columns: Object.fromEntries(columns) };
}

/** The rows of blocks from one to another. */
export function rowsWithin(batch: CodedBatch, from: number, to: number): RowBatch {
  const blockAt = columnReader(batch, 'block_number') as (row: number) => number;
  const all = Array.from({ length: batch.rows }, (_, row) => row);
  return takeRows(
    batch,
    all.filter((row) => blockAt(row) >= from && blockAt(row) <= to),
  );
}
