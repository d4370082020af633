import { keccak_256 } from '@noble/hashes/sha3';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { LogRecord } from '../record/log.js';
import { BLOOM_BYTES, BloomMaker } from './bloom.js';
import { createKeccak256, type Keccak, toHex } from './keccak.js';

let keccak: Keccak;
beforeAll(async () => {
  keccak = await createKeccak256();
});

const hexString = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex);
const log = fc.record({ address: hexString(20), topics: fc.array(hexString(32), { maxLength: 4 }) });

it('hashes as @noble/hashes does, at every length around a block of the sponge', () => {
  for (let length = 0; length < 300; length++) {
    const bytes = Buffer.alloc(length, length);
    expect(toHex(keccak.hash(bytes))).toBe(toHex(keccak_256(bytes)));
  }
});

it('sets the bits that the Yellow Paper names, however often an item comes', () => {
  const maker = new BloomMaker(keccak);
  fc.assert(
    fc.property(fc.array(log, { maxLength: 20 }), (logs) => {
      const expected = Buffer.alloc(BLOOM_BYTES);
      for (const item of logs.flatMap(({ address, topics }) => [address, ...topics])) {
        const hash = keccak_256(Buffer.from(item.slice(2), 'hex'));
        for (const pair of [0, 2, 4]) {
          const bit = ((hash[pair]! << 8) + hash[pair + 1]!) % 2048;
          expected[255 - Math.floor(bit / 8)]! |= 1 << (bit % 8);
        }
      }
      const records = logs as unknown as LogRecord[];
      expect(toHex(maker.of(records))).toBe(toHex(expected));
      expect(toHex(maker.of([...records, ...records]))).toBe(toHex(expected));
    }),
  );
});

it('stays right when it has to forget', () => {
  const maker = new BloomMaker(keccak);
  const many = Array.from({ length: 40_000 }, (_, index) => ({
    address: `0x${index.toString(16).padStart(40, '0')}`,
    topics: [],
  })) as unknown as LogRecord[];
  const first = toHex(maker.of(many.slice(0, 100)));
  maker.of(many);
  expect(toHex(maker.of(many.slice(0, 100)))).toBe(first);
});
