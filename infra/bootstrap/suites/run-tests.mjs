// Runs vitest, adds up what it counted, and says what was not run.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root, runChild } from '../prepare.mjs';
import { toInstall } from './needs.mjs';
import { countTests, listFailed, listSkipped, readReport } from './report.mjs';

/**
 * Runs vitest once with these arguments and passes its output on. Resolves to the text of its report, which is kept in the
 * file `report` if that is given; the text is empty if it crashed.
 */
export async function runTests(args, { env = process.env, report } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'packhouse-report-'));
  const file = report ?? path.join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const vitest = `${root}node_modules/vitest/vitest.mjs`;
  await runChild(process.execPath, [vitest, 'run', ...reporters, ...args], 'inherit', env);
  const text = readReport(file);
  rmSync(folder, { recursive: true });
  return text;
}

/**
 * Sums of several runs: tests, the names of those that failed, tests that were skipped for want of something, tests that do
 * not say for what, and whole suites that could not run.
 */
export function createSum() {
  return { passed: 0, failed: 0, skipped: 0, names: [], needs: new Map(), unnamed: [], missing: [] };
}

/** Adds a run's report. A test that is skipped without saying what it needs is a failure. */
export function addRun(sum, text) {
  const { needs, unnamed } = listSkipped(text);
  const { passed, failed, skipped } = countTests(text);
  sum.passed += passed;
  sum.failed += failed + unnamed.length;
  sum.skipped += skipped - unnamed.length;
  sum.names.push(...listFailed(text));
  sum.unnamed.push(...unnamed);
  for (const [need, count] of needs) sum.needs.set(need, (sum.needs.get(need) ?? 0) + count);
}

/** What was not run with the lines that change it, and the closing line: `N passed, N failed, N skipped`. */
export function toClosingLines({ passed, failed, skipped, names, needs, unnamed, missing }) {
  const wanting = [...needs]
    .sort((a, b) => b[1] - a[1])
    .map(([need, count]) => `${need}: ${count} ${count === 1 ? 'test' : 'tests'}, ${toInstall(need)}`);
  const lines = [...wanting, ...missing].map((line) => `  ${line}`);
  return [
    ...(lines.length === 0 ? [] : ['Not run, and what it takes:', ...lines]),
    ...names.map((name) => `FAILED: ${name}`),
    ...unnamed.map((name) => `FAILED, skipped without saying what it needs: ${name}`),
    `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`,
  ];
}
