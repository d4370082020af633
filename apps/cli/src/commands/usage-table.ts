import { type Columns, table, toCells } from '../terminal/table.js';

interface Figures {
  requests: number;
  units: number;
  errors?: number;
  bytes: number;
}

/** A table of usage: the names of rows, their figures, and the totals of these. */
export function usageTable<R extends Figures>(
  rows: readonly R[],
  names: Columns<R>,
  figures: Columns<Figures & Partial<R>>,
): string {
  const sum = (read: (row: R) => number): number => rows.reduce((total, row) => total + read(row), 0);
  const totals: Figures = {
    requests: sum((row) => row.requests),
    units: sum((row) => row.units),
    errors: sum((row) => row.errors ?? 0),
    bytes: sum((row) => row.bytes),
  };
  const heads = Object.keys(names);
  return table([
    [...heads, ...Object.keys(figures)],
    ...rows.map((row) => [...toCells(row, names), ...toCells(row, figures)]),
    ['total', ...heads.slice(1).map(() => ''), ...toCells(totals as Figures & Partial<R>, figures)],
  ]);
}
