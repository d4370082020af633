import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { openText, sealText } from './sealed-text.js';

it('opens what it sealed, by the same key, for the same purpose, and unchanged', () => {
  const seal = randomBytes(32);
  const sealed = sealText(seal, 'a test', 'שלום');
  expect(openText(seal, 'a test', sealed)).toBe('שלום');
  expect(openText(seal, 'another test', sealed)).toBeNull();
  expect(openText(randomBytes(32), 'a test', sealed)).toBeNull();
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(openText(seal, 'a test', changed)).toBeNull();
    expect(openText(seal, 'a test', sealed.subarray(0, at))).toBeNull();
  }
  expect(sealText(seal, 'a test', 'שלום').equals(sealed)).toBe(false);
});
