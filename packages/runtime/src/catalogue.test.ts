import { expect, it } from 'vitest';
import { ERROR_CATALOGUE } from './catalogue.js';

const EXIT_CODES = [2, 64, 69, 70, 73, 75, 78];

it('is what ERRORS.md says (write it anew with `npx vitest run packages/runtime -u`)', async () => {
  const sections = EXIT_CODES.map((exit) => {
    const rows = Object.entries(ERROR_CATALOGUE).filter(([, { exitCode }]) => exitCode === exit);
    const lines = rows.map(
      ([code, { meaning, retryable }]) => `- \`${code}\`${retryable ? '*' : ''}: ${meaning}`,
    );
    return `## Exit code ${exit}\n\n${lines.join('\n')}\n`;
  });
  const head =
    '# Error codes\n\nEvery error that Packhouse reports carries one of these, by [exit code](../../docs/commands.md#exit-codes). ' +
    'Codes are never reused. An asterisk: a later try may succeed without any change.\n';
  const text = [head, ...sections].join('\n');
  await expect(text).toMatchFileSnapshot('../ERRORS.md');
});

it.each(Object.entries(ERROR_CATALOGUE))('%s is one sentence with a known exit code', (code, row) => {
  expect(code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
  expect(row.meaning).toMatch(/^[A-Z].*\.$/);
  expect(EXIT_CODES).toContain(row.exitCode);
});
