import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROBLEM_REASONS } from './problem-reasons.js';

it('the table of refusals in the README is the table of reasons', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const rows = [...readme.matchAll(/^\| (`.*`) \| (\d{3}) \| (-\d+) \| .+ \|$/gm)].flatMap(
    ([, names = '', status, code]) =>
      names
        .split(', ')
        .map((name) => [name.replaceAll('`', ''), { status: Number(status), code: Number(code) }] as const),
  );
  const told = Object.entries(PROBLEM_REASONS).map(
    ([reason, { status, code }]) => [reason, { status, code }] as const,
  );
  expect(rows.length).toBe(told.length);
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(told));
});
