import { createFindings, type Verdict } from './verdict.js';

/** Invariant 1, as an operator sees it: `packhouse audit --json` reads everything back and finds no damage. */
export function auditIsClean(run: { code: number; stdout: string; stderr: string }): Verdict {
  const findings = createFindings(1, 'packhouse audit finds no damage');
  const events = run.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const done = events.find(({ event }) => event === 'done');
  findings.looked(Number(done?.bundles ?? 0));
  if (done === undefined) findings.violated(`it ended with ${run.code}: ${run.stderr.trim()}`);
  else if (run.code !== 0) findings.violated(`it ended with ${run.code}`);
  // What a killed packer left behind is told, and is no damage.
  for (const event of events)
    if (event.event === 'finding' && event.cause !== 'orphan') findings.violated(JSON.stringify(event));
  return findings.verdict();
}
