import { toTable } from '@packhouse/rig';

/** One line of the table: what was measured or counted, what it may be, and whether it is. */
export interface Finding {
  /** Name of the case. */
  case: string;
  what: string;
  /** The same without the attack, where there is such a thing. */
  baseline?: string;
  attacked: string;
  bound: string;
  held: boolean;
  /** Whether the figure depends on the machine's speed; a count or a state does not. */
  timed: boolean;
}

/** A case that could not be run to its end. */
export interface Failure {
  case: string;
  failed: string;
}

/** Makes a finding about a count or a state. */
export function counted(
  name: string,
  what: string,
  parts: { got: string | number; bound: string; held: boolean; baseline?: string },
): Finding {
  const { got, ...rest } = parts;
  return { case: name, what, attacked: String(got), timed: false, ...rest };
}

/** Makes a finding about a duration or an amount of memory or CPU time. */
export function timed(name: string, what: string, parts: Parameters<typeof counted>[2]): Finding {
  return { ...counted(name, what, parts), timed: true };
}

/** The table that `npm run attack` prints. */
export function renderTable(findings: readonly (Finding | Failure)[]): string {
  return toTable([
    ['CASE', 'WHAT', 'ALONE', 'UNDER ATTACK', 'BOUND', ''],
    ...findings.map((finding) =>
      'failed' in finding
        ? [finding.case, finding.failed.split('\n')[0] ?? '', '', '', '', 'FAILED']
        : [
            finding.case,
            finding.what,
            finding.baseline ?? '',
            finding.attacked,
            finding.bound,
            finding.held ? 'held' : 'BROKEN',
          ],
    ),
  ]);
}

/** Milliseconds for people. */
export function ms(value: number): string {
  return value >= 100 ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`;
}

/** Bytes for people. */
export function mb(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
