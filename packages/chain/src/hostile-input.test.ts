import { ALL } from '@packhouse/recordings';
import { isPackhouseError } from '@packhouse/runtime';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICY } from '../test/recorded.js';
import { changed, leaves, type Path, thrown } from '../test/tamper.js';
import { canonicalRecord } from './canonical-record.js';
import { createProver, type Prover } from './create-prover.js';
import { KINDS } from './record/kinds.js';

let prover: Prover;
beforeAll(async () => {
  prover = await createProver(POLICY);
});

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
});

const nasty = fc.oneof(
  anything,
  fc.constantFrom<unknown>(
    null,
    undefined,
    Number.NaN,
    -1,
    -0,
    2 ** 53,
    1e308,
    '',
    '0x',
    '0x0',
    '0X1',
    [[[]]],
    {},
  ),
  fc.constantFrom<unknown>(`0x${'f'.repeat(65)}`, `0x${'0'.repeat(1e5)}`, '0x1\n', 'null', '__proto__'),
  fc.string().map((text) => `0x${text}`),
);

/** Nothing but our own errors comes out. */
function onlyOurs(work: () => unknown): void {
  const error = thrown(work);
  if (error !== undefined && !isPackhouseError(error)) throw error;
}

describe('hostile input never throws anything but PackhouseError', () => {
  it('as a whole answer', () => {
    fc.assert(
      fc.property(anything, anything, (block, receipts) => {
        onlyOurs(() => prover.proveBlock({ block, receipts }));
        onlyOurs(() => prover.proveTraces({ number: 1, hash: '0x', transactions: [] }, block));
        for (const kind of KINDS) {
          onlyOurs(() => canonicalRecord(kind, block));
          onlyOurs(() => canonicalRecord(kind, [block]));
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each(ALL)('at any place in an answer: $title', (source) => {
    for (const number of [1000000, 15537393]) {
      const answer = source.block('forks', number);
      const block = prover.proveBlock(answer);
      const branches = (path: Path): Path[] => path.map((_, at) => path.slice(0, at + 1));
      const unique = new Map(
        leaves(answer)
          .flatMap(branches)
          .map((path) => [path.join('.'), path]),
      );
      const paths = fc.constantFrom(...unique.values());
      fc.assert(
        fc.property(paths, nasty, (path, value) => {
          changed(answer, path, value, () => {
            onlyOurs(() => prover.proveBlock(answer));
            onlyOurs(() => prover.proveTraces(block, answer.traces));
            onlyOurs(() => canonicalRecord('receipts', answer.receipts));
          });
        }),
        { numRuns: 2_000 },
      );
      expect(prover.proveBlock(answer).number).toBe(number);
    }
  });
});
