import { formatTime } from './format.js';

/** Columns of equal width, as text. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** A value of a cell: null is a dash, a date is in UTC up to the second. */
type Cell = string | number | Date | null;

/** The columns of a table by their heads. */
export type Columns<R> = Readonly<Record<string, (row: R) => Cell>>;

/** A table with a line per row. */
export function columnTable<R>(rows: readonly R[], columns: Columns<R>): string {
  return table([Object.keys(columns), ...rows.map((row) => toCells(row, columns))]);
}

/** The cells of a row. */
export function toCells<R>(row: R, columns: Columns<R>): string[] {
  return Object.values(columns).map((column) => {
    const value = column(row);
    if (value === null) return '-';
    return value instanceof Date ? formatTime(value) : String(value);
  });
}
