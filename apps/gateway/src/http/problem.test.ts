import { readFileSync } from 'node:fs';
import { PackhouseError } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { PROBLEM_REASONS, Problem, toProblem } from './problem.js';

describe('the refusal for an error', () => {
  it('is the problem itself where a route threw one', () => {
    const problem = new Problem('file-unknown', { detail: 'No.' });
    expect(toProblem(problem)).toBe(problem);
  });

  it.each(['DATABASE_UNAVAILABLE', 'OBJECT_STORE_UNAVAILABLE'] as const)(
    'is 503 with Retry-After for %s',
    (code) => {
      const problem = toProblem(new PackhouseError({ code, message: 'secret host 10.0.0.1 is gone.' }));
      expect(problem.status).toBe(503);
      expect(problem.headers['retry-after']).toBe('5');
      expect(problem.toBody('r')).toMatchObject({
        retryAfter: 5,
        retryAfterMs: 5_000,
        reason: 'unavailable',
        code: -32002,
      });
      expect(JSON.stringify(problem.toBody('r'))).not.toContain('secret');
    },
  );

  it.each([
    ['OBJECT_STORE_INVALID', 'unavailable'],
    ['DISK_FULL', 'disk-full'],
    ['OBJECT_MISSING', 'file-damaged'],
    ['OBJECT_MISMATCH', 'file-damaged'],
    ['BUNDLE_INVALID', 'file-damaged'],
  ] as const)('is 503 with Retry-After and its own reason for %s', (code, reason) => {
    const problem = toProblem(new PackhouseError({ code, message: 'secret host 10.0.0.1 is full.' }));
    expect(problem.status).toBe(503);
    expect(problem.headers['retry-after']).toBe('60');
    expect(problem.toBody('r')).toMatchObject({ reason, retryAfter: 60, retryAfterMs: 60_000, code: -32002 });
    expect(JSON.stringify(problem.toBody('r'))).not.toContain('secret');
  });

  it('is 500 without any detail of the error for what nobody foresaw', () => {
    const problem = toProblem(new TypeError('secret of undefined'));
    expect(problem.status).toBe(500);
    expect(JSON.stringify(problem.toBody('r-1'))).not.toContain('secret');
    expect(problem.toBody('r-1')).toMatchObject({ status: 500, requestId: 'r-1', code: -32603 });
  });
});

it('the table of refusals in docs/gateway.md is the table of reasons', () => {
  const page = readFileSync(new URL('../../../../docs/gateway.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^- (`.*`) \((\d{3}), (-\d+)\): .+$/gm)].flatMap(
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
