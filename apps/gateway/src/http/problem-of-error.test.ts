import { PackhouseError } from '@packhouse/runtime';
import { describe, expect, it } from 'vitest';
import { Problem } from './problem.js';
import { problemOfError } from './problem-of-error.js';

describe('the refusal for an error', () => {
  it('is the problem itself where a route threw one', () => {
    const problem = new Problem('file-unknown', { detail: 'No.' });
    expect(problemOfError(problem)).toBe(problem);
  });

  it.each(['DATABASE_UNAVAILABLE', 'OBJECT_STORE_UNAVAILABLE'] as const)(
    'is 503 with Retry-After for %s',
    (code) => {
      const problem = problemOfError(new PackhouseError({ code, message: 'secret host 10.0.0.1 is gone.' }));
      expect(problem.status).toBe(503);
      expect(problem.headers['retry-after']).toBe('5');
      expect(problem.toBody('r')).toMatchObject({
        ...{ retryAfter: 5, retryAfterMs: 5_000 },
        ...{ reason: 'unavailable', code: -32002 },
      });
      expect(JSON.stringify(problem.toBody('r'))).not.toContain('secret');
    },
  );

  it('is 500 without any detail of the error for what nobody foresaw', () => {
    const problem = problemOfError(new TypeError('secret of undefined'));
    expect(problem.status).toBe(500);
    expect(JSON.stringify(problem.toBody('r-1'))).not.toContain('secret');
    expect(problem.toBody('r-1')).toMatchObject({ status: 500, requestId: 'r-1', code: -32603 });
  });
});
