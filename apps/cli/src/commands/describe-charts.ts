import { type Cell, type Chart, COLUMNS, type Level } from '@packhouse/operations';
import { counted } from '../terminal/format.js';
import { table } from '../terminal/table.js';

/** The overall result: the exit code, and the networks without a usable upstream. */
interface Verdict {
  exitCode: 0 | 2 | 69;
  upstreams: number;
  warnings: number;
  failures: number;
  unusableNetworks: string[];
}

const FINDINGS = 2;
const NO_UPSTREAM = 69;

/** Computes the overall result; `charts` are grouped by network, `others` are warnings that are not about upstreams. */
export function getVerdict(charts: readonly (readonly Chart[])[], others: number): Verdict {
  const findings = charts.flat().flatMap((chart) => chart.findings);
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  const unusableNetworks = charts
    .filter((group) => !group.some((chart) => chart.usable))
    .flatMap((group) => group[0]?.network.id ?? []);
  return {
    exitCode: unusableNetworks.length > 0 ? NO_UPSTREAM : findings.length + others > 0 ? FINDINGS : 0,
    upstreams: charts.flat().length,
    warnings: count('warn') + others,
    failures: count('fail'),
    unusableNetworks,
  };
}

/** A table with one row per upstream. */
export function chartTable(charts: readonly Chart[]): string {
  return table([
    ['network', 'upstream', ...COLUMNS],
    ...charts.map((chart) => [
      chart.network.id,
      chart.upstream.name,
      ...COLUMNS.map((column) => cellText(column, chart.cells[column])),
    ]),
  ]);
}

function cellText(column: string, { level, text }: Cell): string {
  if (level === 'none' || (level === 'ok' && column === 'client')) return text;
  return `${level} ${text}`;
}

/** One sentence per finding, with its remedy. */
export function findingLines(chart: Chart): string[] {
  const sentence = (text: string): string => (/[.?!…]$/.test(text) ? text : `${text}.`);
  return chart.findings.map(
    ({ level, message, hint }) =>
      `${level}: ${chart.network.id}/${chart.upstream.name}: ${sentence(message)} ${sentence(hint)}`,
  );
}

/** The state of each network, one line each. */
export function summaryLines(charts: readonly (readonly Chart[])[]): string[] {
  return charts.map((group) => {
    const usable = group.filter((chart) => chart.usable).length;
    const id = group[0]?.network.id ?? '';
    if (usable === 0) return `${id}: no usable upstream.`;
    return `${id}: ${usable} of ${counted(group.length, 'upstream')} usable.`;
  });
}

/** The charts as JSON for programs. */
export function chartJson(chart: Chart): object {
  return {
    event: 'upstream',
    network: chart.network.id,
    upstream: chart.upstream.name,
    usable: chart.usable,
    head: chart.head,
    finalized: chart.finalized,
    checks: chart.cells,
    findings: chart.findings,
  };
}
