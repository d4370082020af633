import { expect, it } from 'vitest';
import { ERROR_CATALOGUE } from './catalogue.js';

const EXIT_CODES = [2, 64, 69, 70, 73, 75, 78];

it('is what ERRORS.md says (write it anew with `npx vitest run packages/runtime -u`)', async () => {
  const rows = Object.entries(ERROR_CATALOGUE).map(
    ([code, { meaning, retryable, exitCode }]) =>
      `| \`${code}\` | ${meaning} | ${retryable ? 'yes' : ''} | ${exitCode} |`,
  );
  const text = [
    '# Error codes',
    '',
    'Every error that Packhouse reports carries one of these. Codes are never reused.',
    '',
    '| code | meaning | retry may help | exit code |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  await expect(text).toMatchFileSnapshot('../ERRORS.md');
});

it.each(Object.entries(ERROR_CATALOGUE))('%s is one sentence with a known exit code', (code, row) => {
  expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
  expect(row.meaning).toMatch(/^[A-Z].*\.$/);
  expect(EXIT_CODES).toContain(row.exitCode);
});
