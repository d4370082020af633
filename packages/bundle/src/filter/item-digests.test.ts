import { createHash } from 'node:crypto';
import { DIGEST_BYTES } from '@packhouse/kernels';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { distinctDigests, toDigests } from './item-set.js';

it('is the beginning of SHA-256 of a zero byte and the item', () => {
  const items = [Buffer.from('first'), Buffer.alloc(0), Buffer.alloc(200, 7)];
  const expected = items.map((item) =>
    createHash('sha256').update(Buffer.of(0)).update(item).digest().subarray(0, DIGEST_BYTES),
  );
  expect(toDigests(items)).toEqual(Buffer.concat(expected));
});

it('reads each digest of any lists once, also those that are alike in their first bits', () => {
  const part = fc.constantFrom(0, 1, 0xffffffff, 0x80000000);
  const digest = fc.tuple(part, part, fc.constantFrom(0, 0xffff));
  fc.assert(
    fc.property(fc.array(fc.array(digest)), (lists) => {
      const bytes = lists.map((list) =>
        Buffer.concat(
          list.map(([first, ribbon, fingerprint]) => {
            const one = Buffer.alloc(DIGEST_BYTES);
            one.writeUInt32LE(first, 0);
            one.writeUInt32LE(ribbon, 4);
            one.writeUInt16LE(fingerprint, 8);
            return one;
          }),
        ),
      );
      const { count, firsts, ribbons, fingerprints } = distinctDigests(bytes);
      const read = Array.from({ length: count }, (_, n) => [firsts[n], ribbons[n], fingerprints[n]].join());
      expect(read).toEqual([...new Set(lists.flat().map(String))]);
    }),
  );
});
