import type { KeyRow } from '@packhouse/database';
import { expect, it } from 'vitest';
import { ownerOf } from './owner-of.js';

const of = (address: string): number => ownerOf({ key: undefined, address });

it('is the key where there is one, else the block of the address, and never both', () => {
  expect(ownerOf({ key: { id: 7 } as KeyRow })).toBe(7);
  expect(of('10.0.0.1')).toBe(of('::ffff:10.0.0.1'));
  expect(of('2001:db8::1')).toBe(of('2001:db8::2'));
  const blocks = ['10.0.0.1', '10.0.0.2', '2001:db8::1', '2001:db8:0:1::1'].map(of);
  expect(new Set(blocks).size).toBe(4);
  expect(blocks.every((block) => Number.isSafeInteger(block) && block < 0)).toBe(true);
});
