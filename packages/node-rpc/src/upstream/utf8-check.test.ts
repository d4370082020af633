import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Utf8Check } from './utf8-check.js';

it('agrees with isUtf8, wherever the bytes are cut', () => {
  const text = fc.string({ unit: 'binary', maxLength: 12 }).map((value) => [...Buffer.from(value)]);
  const byte = fc.oneof(
    fc.nat({ max: 255 }),
    fc.constantFrom(0x80, 0xbf, 0xc0, 0xe0, 0xed, 0xf0, 0xf4, 0xff),
  );
  const bytes = fc.array(fc.oneof(text, fc.array(byte, { maxLength: 3 })), { maxLength: 4 });
  fc.assert(
    fc.property(
      bytes,
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
      (lists, sizes) => {
        // ASCII behind it completes nothing, as the last byte of JSON does.
        const all = Buffer.from([...lists.flat(), 0x22]);
        const check = new Utf8Check();
        let valid = true;
        for (let at = 0, n = 0; at < all.length && valid; n++) {
          const size = sizes[n % sizes.length] as number;
          valid = check.push(all.subarray(at, at + size));
          at += size;
        }
        expect(valid).toBe(isUtf8(all));
      },
    ),
    { numRuns: 500 },
  );
});
