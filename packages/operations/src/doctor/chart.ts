import type { Network, Upstream } from '@packhouse/networks';
import { createNodeLabel, type NodeLabel } from '@packhouse/node-rpc';

/** The checks, in the order of the table. */
export const COLUMNS = [
  'reach',
  'chain',
  'methods',
  'behind',
  'finalized',
  'receipts',
  'traces',
  'batch',
  'client',
] as const;
type Column = (typeof COLUMNS)[number];

/** `none`: not checked. */
export type Level = 'ok' | 'warn' | 'fail' | 'none';

export interface Cell {
  level: Level;
  text: string;
}

/** A fault and its remedy. */
interface Finding {
  level: 'warn' | 'fail';
  message: string;
  hint: string;
}

/** The results for one upstream. */
export interface Chart {
  readonly network: Network;
  readonly upstream: Upstream;
  readonly label: NodeLabel;
  readonly cells: Record<Column, Cell>;
  readonly findings: Finding[];
  /** Whether it responds, correctly, and on the right chain. */
  usable: boolean;
  /** The newest block or epoch that it has. */
  head: number | null;
  /** Its newest finalized block. */
  finalized: number | null;
  /** The chain that it reports, if the networks file names none. */
  chain: string | null;
  /** A block whose header does not hash to its hash, with fields that no table names. */
  strange: { number: number; error: Error; finding: Finding } | null;
  set(column: Column, level: Level, text: string): void;
  /** Adds a finding and marks its column. */
  find(cell: { column: Column; level: Finding['level']; text: string }, message: string, hint: string): void;
}

/** An empty chart. */
export function createChart(network: Network, upstream: Upstream): Chart {
  const cells = Object.fromEntries(COLUMNS.map((column) => [column, { level: 'none', text: '-' }]));
  const chart: Chart = {
    network,
    upstream,
    label: createNodeLabel(upstream),
    cells: cells as Record<Column, Cell>,
    findings: [],
    usable: true,
    head: null,
    finalized: null,
    chain: null,
    strange: null,
    set(column, level, text) {
      chart.cells[column] = { level, text };
    },
    find({ column, level, text }, message, hint) {
      // Of two findings in one column the worse one is shown.
      if (chart.cells[column].level !== 'fail' || level === 'fail') chart.set(column, level, text);
      chart.findings.push({ level, message, hint });
    },
  };
  return chart;
}
