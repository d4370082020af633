import { median, toTable } from '@packhouse/rig';

/** One line of the table: a figure beside its yardstick, measured in the same run. */
export interface BenchResult {
  name: string;
  value: number;
  unit: string;
  /** What the figure is held against, and what that measured here. */
  yardstick?: { name: string; value: number; unit: string };
  /** The budget, as a sentence. */
  target?: string;
  /** Whether the budget was met; absent if there is none. */
  met?: boolean;
  /** What one has to know to read the figure. */
  note?: string;
  /** Further figures, for the JSON file. */
  data?: Readonly<Record<string, unknown>>;
}

/** A benchmark that could not run here says why instead. */
interface BenchSkip {
  name: string;
  skipped: string;
}

/** A benchmark that broke. */
interface BenchFailure {
  name: string;
  failed: string;
}

export type BenchOutcome = BenchResult | BenchSkip | BenchFailure;

/** The table that `npm run bench` prints. */
export function renderTable(outcomes: readonly BenchOutcome[]): string {
  return toTable([['BENCHMARK', 'FIGURE', 'YARDSTICK', 'RATIO', 'TARGET', ''], ...outcomes.map(cells)]);
}

function cells(outcome: BenchOutcome): string[] {
  if ('skipped' in outcome) return [outcome.name, 'not run', outcome.skipped, '', '', ''];
  if ('failed' in outcome) return [outcome.name, 'FAILED', '', '', '', ''];
  const { name, value, unit, yardstick, target, met } = outcome;
  return [
    name,
    `${figure(value)} ${unit}`,
    yardstick === undefined ? '' : `${yardstick.name}: ${figure(yardstick.value)} ${yardstick.unit}`,
    yardstick === undefined ? '' : ratio(value / yardstick.value),
    target ?? '',
    met === undefined ? '' : met ? 'met' : 'NOT MET',
  ];
}

/**
 * Rates beside those of a yardstick that were measured in turns. The share of each round counts, so that changes of the
 * machine's speed cancel out; `least`: the budget, as a share.
 */
export function besideRate(
  name: string,
  unit: string,
  rates: readonly number[],
  yardstick: { name: string; rates: readonly number[] },
  least?: number,
): BenchResult {
  const value = median(rates);
  const share = median(rates.map((rate, at) => rate / (yardstick.rates[at] as number)));
  return {
    name,
    value,
    unit,
    yardstick: { name: yardstick.name, value: value / share, unit },
    ...(least === undefined ? {} : { target: `at least ${least * 100} %`, met: share >= least }),
  };
}

/** A number with as many digits as one reads. */
export function figure(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

function ratio(value: number): string {
  return value < 2 ? `${Math.round(value * 100)} %` : `${value.toFixed(1)}x`;
}
