import { expect, it } from 'vitest';
import { base32Address } from '../rpc/params/base32-address.js';
import { base32Of, contractAt, userAt } from '../testing/base32-of.js';
import { base32Hex, canonicalBase32, isContract } from './base32-bytes.js';

it.each([
  // The examples of CIP-37.
  ['cfx:acc7uawf5ubtnmezvhu9dhc6sghea0403y2dgpyfjp', '85d80245dc02f5a89589e1f19c5c718e405b56cd', true],
  [
    'CFX:TYPE.CONTRACT:ACC7UAWF5UBTNMEZVHU9DHC6SGHEA0403Y2DGPYFJP',
    '85d80245dc02f5a89589e1f19c5c718e405b56cd',
    true,
  ],
  ['cfx:aarc9abycue0hhzgyrr53m6cxedgccrmmyybjgh4xg', '1a2f80341409639ea6a35bbcab8299066109aa55', false],
])('%s has the bytes %s', (address, hex, contract) => {
  expect(base32Hex(address)).toBe(hex);
  expect(isContract(address)).toBe(contract);
  expect(base32Of(hex)).toBe(canonicalBase32(address));
});

it('the tests’ own addresses are addresses', () => {
  for (const address of [contractAt(1), userAt(7)]) expect(base32Address(1029)(address)).toBeNull();
});
