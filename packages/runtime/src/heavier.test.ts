import { expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode, getWeight, heavier, PackhouseError } from './catalogue.js';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
const FINDINGS: readonly ErrorCode[] = ['PROOF_FAILED', 'RECORD_INVALID', 'NODE_ANSWER_FALSE', 'INTERNAL'];
const NONE = CODES.filter((code) => getWeight(code) === 0);
const error = (code: ErrorCode) => new PackhouseError({ code, message: code });

it('weighs what was seen to be false, and nothing else', () => {
  expect(CODES.filter((code) => !NONE.includes(code)).sort()).toEqual(
    [...FINDINGS, 'NODE_ANSWER_INVALID'].sort(),
  );
  expect(FINDINGS.map((code) => getWeight(code))).toEqual([4, 3, 2, 1]);
  expect(getWeight('NODE_ANSWER_INVALID')).toBe(getWeight('NODE_ANSWER_FALSE'));
});

it.each(FINDINGS.flatMap((finding) => NONE.map((code) => [finding, code] as const)))(
  'shows %s and not %s, whichever came first',
  (finding, code) => {
    const [found, other] = [error(finding), error(code)];
    expect(heavier(found, other)).toBe(found);
    expect(heavier(other, found)).toBe(found);
  },
);

it('shows the later of two that say as much, and the only one', () => {
  const [first, later] = [error('NODE_TIMEOUT'), error('NODE_ANSWER_MISSING')];
  expect(heavier(first, later)).toBe(later);
  expect(heavier(later, first)).toBe(first);
  expect(heavier(undefined, first)).toBe(first);
});

it('takes an error of another class for a fault of Packhouse itself', () => {
  const fault = new TypeError('x');
  expect(heavier(fault, error('NODE_TIMEOUT'))).toBe(fault);
  const failed = error('PROOF_FAILED');
  expect(heavier(failed, fault)).toBe(failed);
});
