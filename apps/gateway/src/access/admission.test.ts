import { expect, it } from 'vitest';
import { bearerKey } from './admission.js';

it('reads the key of a bearer header and nothing else', () => {
  expect(bearerKey('Bearer abc')).toBe('abc');
  expect(bearerKey('bearer  abc ')).toBe('abc');
  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', 'abc']) {
    expect(bearerKey(header), header).toBeUndefined();
  }
});
