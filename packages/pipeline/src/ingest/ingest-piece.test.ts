import { type BlockRange, KINDS, type Kind, rangesInclude, unionRanges } from '@packhouse/chain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { missingPieces } from './ingest-piece.js';

test('kinds that miss different blocks are cut where one of them begins or ends', () => {
  const missing = new Map<Kind, BlockRange[]>([
    ['logs', [{ firstBlock: 0, lastBlock: 9 }]],
    ['receipts', [{ firstBlock: 5, lastBlock: 20 }]],
    ['traces', []],
  ]);
  expect(missingPieces(missing)).toEqual([
    { firstBlock: 0, lastBlock: 4, kinds: ['logs'] },
    { firstBlock: 5, lastBlock: 9, kinds: ['receipts', 'logs'] },
    { firstBlock: 10, lastBlock: 20, kinds: ['receipts'] },
  ]);
  expect(missingPieces(new Map())).toEqual([]);
});

test('the pieces name each missing block and kind once, and nothing else', () => {
  const ranges = fc
    .array(fc.record({ start: fc.nat(60), length: fc.nat(8) }), { maxLength: 5 })
    .map((list) =>
      unionRanges(list.map(({ start, length }) => ({ firstBlock: start, lastBlock: start + length }))),
    );
  fc.assert(
    fc.property(fc.array(ranges, { minLength: KINDS.length, maxLength: KINDS.length }), (lists) => {
      const missing = new Map(KINDS.map((kind, i) => [kind, lists[i] as BlockRange[]]));
      const pieces = missingPieces(missing);
      for (const kind of KINDS) {
        for (let number = 0; number < 70; number++) {
          const named = pieces.filter(
            ({ firstBlock, lastBlock, kinds }) =>
              kinds.includes(kind) && firstBlock <= number && number <= lastBlock,
          );
          expect(named.length).toBe(rangesInclude(missing.get(kind) as BlockRange[], number) ? 1 : 0);
        }
      }
    }),
  );
});
