import { type BlockRange, KINDS, type Kind } from '@packhouse/chain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rangesInclude, unionRanges } from '../ranges.js';
import { missingPieces } from './ingest-piece.js';

test('kinds that miss different blocks are cut where one of them begins or ends', () => {
  const missing = new Map<Kind, BlockRange[]>([
    ['logs', [{ start: 0, end: 9 }]],
    ['receipts', [{ start: 5, end: 20 }]],
    ['traces', []],
  ]);
  expect(missingPieces(missing)).toEqual([
    { start: 0, end: 4, kinds: ['logs'] },
    { start: 5, end: 9, kinds: ['receipts', 'logs'] },
    { start: 10, end: 20, kinds: ['receipts'] },
  ]);
  expect(missingPieces(new Map())).toEqual([]);
});

test('the pieces name each missing block and kind once, and nothing else', () => {
  const ranges = fc
    .array(fc.record({ start: fc.nat(60), length: fc.nat(8) }), { maxLength: 5 })
    .map((list) => unionRanges(list.map(({ start, length }) => ({ start, end: start + length }))));
  fc.assert(
    fc.property(fc.array(ranges, { minLength: KINDS.length, maxLength: KINDS.length }), (lists) => {
      const missing = new Map(KINDS.map((kind, i) => [kind, lists[i] as BlockRange[]]));
      const pieces = missingPieces(missing);
      for (const kind of KINDS) {
        for (let number = 0; number < 70; number++) {
          const named = pieces.filter(
            ({ start, end, kinds }) => kinds.includes(kind) && start <= number && number <= end,
          );
          expect(named.length).toBe(rangesInclude(missing.get(kind) as BlockRange[], number) ? 1 : 0);
        }
      }
    }),
  );
});
