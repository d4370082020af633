import { expect, it } from 'vitest';
import { describeError, isPackhouseError, PackhouseError } from './catalogue.js';

it('takes retryable and the exit code from the catalogue', () => {
  const error = new PackhouseError({ code: 'DISK_FULL', message: 'No space is left in data.' });
  expect(error).toMatchObject({
    name: 'PackhouseError',
    retryable: true,
    exitCode: 73,
    data: {},
    hint: undefined,
  });
  expect(new PackhouseError({ code: 'DISK_FULL', message: 'x', retryable: false }).retryable).toBe(false);
});

it('has a cause only if there is one', () => {
  const cause = new Error('why');
  expect(new PackhouseError({ code: 'INTERNAL', message: 'x', cause }).cause).toBe(cause);
  expect('cause' in new PackhouseError({ code: 'INTERNAL', message: 'x' })).toBe(false);
});

it('is told from other errors, and by its code', () => {
  const error = new PackhouseError({ code: 'USAGE', message: 'x' });
  expect(isPackhouseError(error)).toBe(true);
  expect(isPackhouseError(error, 'USAGE')).toBe(true);
  expect(isPackhouseError(error, 'INTERNAL')).toBe(false);
  expect(isPackhouseError(new Error('x'))).toBe(false);
});

it.each<[unknown, string]>([
  [new PackhouseError({ code: 'USAGE', message: 'No.', hint: 'Yes.' }), 'No. Yes. [USAGE]'],
  [new PackhouseError({ code: 'USAGE', message: 'No.' }), 'No. [USAGE]'],
  [new Error('plain'), 'plain'],
  [new AggregateError([new Error('a'), new Error('b')], ''), 'a; b'],
  [new AggregateError([new Error('a')], 'together'), 'together'],
  ['text', 'text'],
  [undefined, 'undefined'],
])('is described in one line: %s', (error, line) => {
  expect(describeError(error)).toBe(line);
});
