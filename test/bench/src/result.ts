/** One line of the table: a figure beside its yardstick, measured in the same run. */
export interface BenchResult {
  name: string;
  value: number;
  unit: string;
  /** What the figure is held against, and what that measured here. */
  yardstick?: { name: string; value: number; unit: string };
  /** The budget, as a sentence. */
  target?: string;
  /** Whether the budget was met; absent where there is none. */
  met?: boolean;
  /** What one has to know to read the figure. */
  note?: string;
}

/** A benchmark that could not run here says why instead. */
export interface BenchSkip {
  name: string;
  skipped: string;
}

export type BenchOutcome = BenchResult | BenchSkip;

/** The table that `npm run bench` prints. */
export function renderTable(outcomes: readonly BenchOutcome[]): string {
  const rows = [
    ['BENCHMARK', 'FIGURE', 'YARDSTICK', 'TARGET', ''],
    ...outcomes.map((outcome) =>
      'skipped' in outcome
        ? [outcome.name, 'not run', outcome.skipped, '', '']
        : [
            outcome.name,
            `${figure(outcome.value)} ${outcome.unit}`,
            outcome.yardstick === undefined
              ? ''
              : `${outcome.yardstick.name}: ${figure(outcome.yardstick.value)} ${outcome.yardstick.unit}`,
            outcome.target ?? '',
            outcome.met === undefined ? '' : outcome.met ? 'met' : 'NOT MET',
          ],
    ),
  ];
  const widths = (rows[0] as string[]).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function figure(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}
