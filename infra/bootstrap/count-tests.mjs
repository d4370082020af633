// `node count-tests.mjs REPORT [REPORT-OF-THE-SECOND-RUN]`: prints `passed failed skipped`, counting what really ran.
// `node count-tests.mjs --failed REPORT`: prints the test files that failed, a line each.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * Sums a vitest JSON report. A file that could not be loaded, and a run that failed without a failed test (an unhandled
 * error, a leak), count as one failure each; so does a report that is missing or counts nothing. `again`: the report of
 * a second run of the files that failed, whose results count instead.
 */
export function countTests(text, again) {
  const report = readReport(text);
  if (report === null) return { passed: 0, failed: 1, skipped: 0 };
  const second = again === undefined ? null : readReport(again);
  const repeated = new Map((second?.testResults ?? []).map((file) => [file.name, file]));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const first of report.testResults ?? []) {
    const file = repeated.get(first.name) ?? first;
    const before = counts.failed;
    for (const test of file.assertionResults ?? []) {
      if (test.status === 'passed') counts.passed += 1;
      else if (test.status === 'failed') counts.failed += 1;
      else counts.skipped += 1;
    }
    if (file.status === 'failed' && counts.failed === before) counts.failed += 1;
  }
  const nothing = counts.passed + counts.failed + counts.skipped === 0;
  const clean = report.success === true || (second?.success === true && listFailed(text).length > 0);
  if (counts.failed === 0 && (!clean || nothing)) counts.failed += 1;
  return counts;
}

/** The test files that failed. */
export function listFailed(text) {
  const files = readReport(text)?.testResults ?? [];
  return files.filter(({ status }) => status === 'failed').map(({ name }) => name);
}

function readReport(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // A run that crashed leaves no report, and that is a failure.
    return '';
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [first, second] = process.argv.slice(2);
  if (first === '--failed') {
    for (const file of listFailed(readIfThere(second))) console.log(file);
  } else {
    const again = second === undefined ? undefined : readIfThere(second);
    const { passed, failed, skipped } = countTests(readIfThere(first), again);
    console.log(`${passed} ${failed} ${skipped}`);
  }
}
