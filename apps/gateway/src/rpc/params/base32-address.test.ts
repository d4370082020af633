import { expect, it } from 'vitest';
import { addressPrefix, base32Address } from './base32-address.js';

// The examples of CIP-37.
const MAIN = 'cfx:aarc9abycue0hhzgyrr53m6cxedgccrmmyybjgh4xg';
const TEST = 'cfxtest:aarc9abycue0hhzgyrr53m6cxedgccrmmy8m50bu1p';

it('takes the addresses of its own network, in either case, with and without their type', () => {
  expect(base32Address(1029)(MAIN)).toBeNull();
  expect(base32Address(1029)(MAIN.toUpperCase())).toBeNull();
  expect(base32Address(1029)(MAIN.replace(':', ':type.user:'))).toBeNull();
  expect(base32Address(1)(TEST)).toBeNull();
  expect(addressPrefix(17)).toBe('net17');
});

it('names what is wrong', () => {
  const check = base32Address(1029);
  expect(check(TEST)).toMatch(/network cfxtest, expected cfx/);
  expect(check(MAIN.replace(':', ':type.contract:'))).toMatch(/of type user, not contract/);
  expect(check(MAIN.replace('aarc', 'Aarc'))).toMatch(/lower case or in upper case/);
  expect(check(5)).toMatch(/expected a base32 address, got number/);
  for (const text of ['', 'cfx:', '0x00', MAIN.slice(0, -1), `${MAIN}a`, MAIN.replace('cfx', 'net01')]) {
    expect(check(text), text).toMatch(/expected a base32 address like/);
  }
});

it('refuses every address in which one character was changed', () => {
  const check = base32Address(1029);
  const body = MAIN.indexOf(':') + 1;
  for (let at = body; at < MAIN.length; at++) {
    for (const char of 'abcdefghjkmnprstuvwxyz0123456789') {
      if (MAIN[at] === char) continue;
      expect(check(MAIN.slice(0, at) + char + MAIN.slice(at + 1)), `${at} ${char}`).not.toBeNull();
    }
  }
});
