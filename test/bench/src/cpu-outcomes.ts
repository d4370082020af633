import { median } from '@packhouse/rig';
import type { LoadReport } from './load.js';
import type { BenchOutcome } from './result.js';

/** The CPU of a request in all processes of a server, medians of rounds, beside that of a yardstick; none without /proc. */
export function cpuOutcomes(
  name: string,
  reports: readonly LoadReport[],
  yardstick: { name: string; reports: readonly LoadReport[] },
): BenchOutcome[] {
  const micros = (of: readonly LoadReport[]): number[] =>
    of.flatMap(({ cpuMicros }) => (cpuMicros === undefined ? [] : [cpuMicros]));
  const [all, others] = [micros(reports), micros(yardstick.reports)];
  if (all.length < reports.length || others.length < yardstick.reports.length) return [];
  return [
    {
      name: `${name}: CPU of a request`,
      value: median(all),
      unit: 'us',
      yardstick: { name: yardstick.name, value: median(others), unit: 'us' },
      note: `user and system time of all processes of each side; the least of ${reports.length} rounds: ${Math.min(...all).toFixed(1)} us`,
    },
  ];
}
