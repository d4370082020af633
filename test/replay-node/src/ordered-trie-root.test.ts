import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toData } from './hex.js';
import { orderedTrieRoot } from './ordered-trie-root.js';
import { oracleRoot } from './testing/oracle.js';

test('the root of any list agrees with @ethereumjs/mpt', async () => {
  const value = fc.uint8Array({ minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 40 }), async (values) => {
      expect(toData(orderedTrieRoot(values))).toBe(await oracleRoot(values));
    }),
    { numRuns: 60 },
  );
});

test('lists long enough for keys of two and three bytes agree with @ethereumjs/mpt', async () => {
  for (const length of [0, 1, 2, 127, 128, 129, 256, 300]) {
    const values = Array.from({ length }, (_, index) =>
      Buffer.from(`value ${index}`.repeat(1 + (index % 5))),
    );
    expect(toData(orderedTrieRoot(values))).toBe(await oracleRoot(values));
  }
});
