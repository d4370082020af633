import { keccak_256 } from '@noble/hashes/sha3';
import { expect, it } from 'vitest';
import { SELECTORS, TOPICS } from './contracts.js';

const keccak = (text: string) => Buffer.from(keccak_256(text)).toString('hex');

it('knows functions by the first four bytes of the hash of their signatures', () => {
  expect(SELECTORS).toEqual({
    transfer: keccak('transfer(address,uint256)').slice(0, 8),
    approve: keccak('approve(address,uint256)').slice(0, 8),
    transferFrom: keccak('transferFrom(address,address,uint256)').slice(0, 8),
    mint: keccak('mint(address,uint256)').slice(0, 8),
    balanceOf: keccak('balanceOf(address)').slice(0, 8),
  });
});

it('knows events by the hash of their signatures', () => {
  expect(TOPICS).toEqual({
    transfer: `0x${keccak('Transfer(address,address,uint256)')}`,
    approval: `0x${keccak('Approval(address,address,uint256)')}`,
    deposit: `0x${keccak('Deposit(address,uint256)')}`,
    created: `0x${keccak('ContractCreated(address)')}`,
  });
});
