import { keccak_256 } from '@noble/hashes/sha3';
import { expect, it } from 'vitest';
import { CONTRACTS, callData } from './contracts.js';

const keccak = (text: string) => Buffer.from(keccak_256(text)).toString('hex');

it.each([
  ['transfer', 'transfer(address,uint256)'],
  ['approve', 'approve(address,uint256)'],
  ['transferFrom', 'transferFrom(address,address,uint256)'],
  ['mint', 'mint(address,uint256)'],
  ['balanceOf', 'balanceOf(address)'],
] as const)('knows %s by the first four bytes of the hash of its signature', (name, signature) => {
  const selector = keccak(signature).slice(0, 8);
  expect(callData(name)).toBe(`0x${selector}`);
  expect(CONTRACTS.token).toContain(selector);
});

it.each([
  ['token', 'Transfer(address,address,uint256)'],
  ['token', 'Approval(address,address,uint256)'],
  ['collectible', 'Transfer(address,address,uint256)'],
  ['vault', 'Deposit(address,uint256)'],
  ['factory', 'ContractCreated(address)'],
] as const)('%s knows the event %s by the hash of its signature', (name, signature) => {
  expect(CONTRACTS[name]).toContain(keccak(signature));
});
