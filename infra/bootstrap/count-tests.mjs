// `node count-tests.mjs <vitest JSON report>`: prints `passed failed skipped`, counting what really ran.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * Sums a vitest JSON report. A file that could not be loaded, and a run that failed without a failed test (an unhandled
 * error, a leak), count as one failure each; so does a report that is missing or counts nothing.
 */
export function countTests(text) {
  let report;
  try {
    report = JSON.parse(text);
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const file of report.testResults ?? []) {
    const before = counts.failed;
    for (const test of file.assertionResults ?? []) {
      if (test.status === 'passed') counts.passed += 1;
      else if (test.status === 'failed') counts.failed += 1;
      else counts.skipped += 1;
    }
    if (file.status === 'failed' && counts.failed === before) counts.failed += 1;
  }
  const nothing = counts.passed + counts.failed + counts.skipped === 0;
  if (counts.failed === 0 && (report.success !== true || nothing)) counts.failed += 1;
  return counts;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  let text = '';
  try {
    text = readFileSync(process.argv[2] ?? '', 'utf8');
  } catch {
    // A run that crashed leaves no report, and that is a failure.
  }
  const { passed, failed, skipped } = countTests(text);
  console.log(`${passed} ${failed} ${skipped}`);
}
