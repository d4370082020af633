import type { SimulationResult } from './simulate.js';

/** The outcome for people: faults by kind, figures, invariants with their first counter-example. */
export function renderResult(result: SimulationResult): string {
  const { blocks, downloads } = result;
  const lines = [
    `seed ${result.seed}, ${result.steps} steps, queues on ${result.queue}, ${(result.ms / 1000).toFixed(1)} s, healed in ${(result.healMs / 1000).toFixed(1)} s`,
    `blocks ${blocks.first} to ${blocks.head}, final up to ${blocks.finalized}; ${result.bundles} bundles; ${result.kills} kills; ${blocks.fetchedAgain} blocks fetched again`,
    `${downloads.pointers} pointers, ${downloads.files} files downloaded, answers ${JSON.stringify(downloads.statuses)}`,
    '',
    'faults injected',
    ...table(Object.entries(result.faults).sort(([a], [b]) => (a < b ? -1 : 1))),
    '',
    'invariants',
    ...result.verdicts.flatMap(({ invariant, title, checked, violations }) => [
      `  ${invariant}  ${violations.length === 0 ? 'OK      ' : 'VIOLATED'}  ${title} (${checked} checked)`,
      ...violations.slice(0, 3).map((violation) => `       ${violation}`),
    ]),
  ];
  if (result.violated) {
    lines.push(
      '',
      `repeat with: npm run simulate -- --seed ${result.seed} --steps ${result.steps} --queue ${result.queue}`,
      `kept: ${result.directory}`,
    );
  }
  return lines.join('\n');
}

function table(rows: readonly (readonly [string, number])[]): string[] {
  const width = Math.max(0, ...rows.map(([kind]) => kind.length));
  return rows.map(([kind, count]) => `  ${kind.padEnd(width)}  ${String(count).padStart(6)}`);
}
