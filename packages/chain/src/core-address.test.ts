import { contractAt, toBase32, userAt } from '@packhouse/replay-node';
import { expect, it } from 'vitest';
import { canonicalCoreAddress, checkCoreAddress, coreAddressHex } from './core-address.js';

// The examples of CIP-37.
const MAIN = 'cfx:aarc9abycue0hhzgyrr53m6cxedgccrmmyybjgh4xg';
const TEST = 'cfxtest:aarc9abycue0hhzgyrr53m6cxedgccrmmy8m50bu1p';

it('takes the addresses of its own network, in either case, with and without their type', () => {
  expect(checkCoreAddress(1029)(MAIN)).toBeNull();
  expect(checkCoreAddress(1029)(MAIN.toUpperCase())).toBeNull();
  expect(checkCoreAddress(1029)(MAIN.replace(':', ':type.user:'))).toBeNull();
  expect(checkCoreAddress(1)(TEST)).toBeNull();
  expect(checkCoreAddress(17)('')).toMatch(/like net17:/);
});

it('names what is wrong', () => {
  const check = checkCoreAddress(1029);
  expect(check(TEST)).toMatch(/network cfxtest, expected cfx/);
  expect(check(MAIN.replace(':', ':type.contract:'))).toMatch(/of type user, not contract/);
  expect(check(MAIN.replace('aarc', 'Aarc'))).toMatch(/lower case or in upper case/);
  expect(check(5)).toMatch(/expected a base32 address, got number/);
  for (const text of ['', 'cfx:', '0x00', MAIN.slice(0, -1), `${MAIN}a`, MAIN.replace('cfx', 'net01')]) {
    expect(check(text), text).toMatch(/expected a base32 address like/);
  }
});

it('refuses every address in which one character was changed', () => {
  const check = checkCoreAddress(1029);
  const body = MAIN.indexOf(':') + 1;
  for (let at = body; at < MAIN.length; at++) {
    for (const char of 'abcdefghjkmnprstuvwxyz0123456789') {
      if (MAIN[at] === char) continue;
      expect(check(MAIN.slice(0, at) + char + MAIN.slice(at + 1)), `${at} ${char}`).not.toBeNull();
    }
  }
});

it.each([
  // The examples of CIP-37.
  ['cfx:acc7uawf5ubtnmezvhu9dhc6sghea0403y2dgpyfjp', '85d80245dc02f5a89589e1f19c5c718e405b56cd'],
  [
    'CFX:TYPE.CONTRACT:ACC7UAWF5UBTNMEZVHU9DHC6SGHEA0403Y2DGPYFJP',
    '85d80245dc02f5a89589e1f19c5c718e405b56cd',
  ],
  [MAIN, '1a2f80341409639ea6a35bbcab8299066109aa55'],
])('%s has the bytes %s', (address, hex) => {
  expect(coreAddressHex(address)).toBe(hex);
  expect(toBase32(hex)).toBe(canonicalCoreAddress(address));
});

it('the addresses that tests make are addresses', () => {
  for (const address of [contractAt(1), userAt(7)]) expect(checkCoreAddress(1029)(address)).toBeNull();
});
