// Reads the JSON reports of vitest: what passed, failed and was skipped, and what for.
import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { readNeed } from './needs.mjs';

/** Characters of a failure that are repeated beside its name. */
const MAX_CAUSE = 300;

/**
 * Sums a report. A file that could not be loaded, and a run that failed without a failed test (an unhandled error, a
 * leak), count as one failure each; so does a report that is missing or counts nothing.
 */
export function countTests(text) {
  const report = parse(text);
  if (report === null) return { passed: 0, failed: 1, skipped: 0 };
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

/** The skipped tests by what they need, as pairs of need and count; those that do not say it are in `unnamed`, by their full names. */
export function listSkipped(text) {
  const needs = new Map();
  const unnamed = [];
  for (const file of parse(text)?.testResults ?? []) {
    for (const { status, fullName } of file.assertionResults ?? []) {
      if (status === 'passed' || status === 'failed') continue;
      const need = readNeed(fullName);
      if (need === undefined) unnamed.push(fullName);
      else needs.set(need, (needs.get(need) ?? 0) + 1);
    }
  }
  return { needs: [...needs], unnamed };
}

/** The failed tests by their full names, and files that failed as a whole by theirs; each with what went wrong. */
export function listFailed(text) {
  return (parse(text)?.testResults ?? []).flatMap(({ name, status, message, assertionResults = [] }) => {
    const failed = assertionResults
      .filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages = [] }) => `${fullName}${toCause(failureMessages[0])}`);
    return status === 'failed' && failed.length === 0 ? [`${name}${toCause(message)}`] : failed;
  });
}

/** The first lines of a failure, without the places in the code. */
function toCause(message = '') {
  const words = stripVTControlCharacters(message.split(/\n\s+at /)[0])
    .replace(/\s+/g, ' ')
    .trim();
  return words === '' ? '' : `: ${words.slice(0, MAX_CAUSE)}`;
}

/** The names of the files whose every test passed; paths of the machine and folder that the report is of. */
export function listWhole(text) {
  const isWhole = ({ status, assertionResults }) =>
    status === 'passed' && assertionResults.every((test) => test.status === 'passed');
  return (parse(text)?.testResults ?? []).filter(isWhole).map(({ name }) => name);
}

/** The text of a report; a run that crashed leaves none, and that is a failure. */
export function readReport(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
