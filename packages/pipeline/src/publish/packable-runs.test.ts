import type { BlockRange } from '@packhouse/chain';
import type { Coverage } from '@packhouse/database';
import { expect, test } from 'vitest';
import { packableRuns } from './packable-runs.js';

const toRuns = (
  coverage: Pick<Coverage, 'staged' | 'published' | 'quarantined'>,
  active: readonly BlockRange[],
  finalized: number,
  paused: readonly BlockRange[] = [],
): ReturnType<typeof packableRuns>[number][] =>
  packableRuns(
    coverage,
    { active: new Map([['logs', active]]), paused: new Map([['logs', paused]]), kinds: ['logs'] },
    'logs',
    finalized,
  );

const none = { staged: [], published: [], quarantined: [] };
const follow = [{ firstBlock: 0, lastBlock: Number.POSITIVE_INFINITY }];

test('a run is packed from the left end of what is wanted, and stays open while the head moves on', () => {
  expect(toRuns({ ...none, staged: [{ firstBlock: 0, lastBlock: 99 }] }, follow, 60)).toEqual([
    { firstBlock: 0, lastBlock: 60, closed: false, waits: false },
  ]);
});

test('a run with a missing left neighbour waits', () => {
  expect(
    toRuns({ ...none, staged: [{ firstBlock: 50, lastBlock: 99 }] }, [{ firstBlock: 0, lastBlock: 99 }], 99),
  ).toEqual([{ firstBlock: 50, lastBlock: 99, closed: true, waits: true }]);
});

test('a quarantined block ends the bundle before it and begins the one behind it', () => {
  const coverage = {
    published: [],
    staged: [
      { firstBlock: 0, lastBlock: 9 },
      { firstBlock: 11, lastBlock: 20 },
    ],
    quarantined: [{ firstBlock: 10, lastBlock: 10 }],
  };
  expect(toRuns(coverage, [{ firstBlock: 0, lastBlock: 20 }], 20)).toEqual([
    { firstBlock: 0, lastBlock: 9, closed: true, waits: false },
    { firstBlock: 11, lastBlock: 20, closed: true, waits: false },
  ]);
});

test('a run between published neighbours is closed', () => {
  const coverage = {
    published: [
      { firstBlock: 0, lastBlock: 9 },
      { firstBlock: 20, lastBlock: 29 },
    ],
    staged: [{ firstBlock: 0, lastBlock: 29 }],
    quarantined: [],
  };
  expect(toRuns(coverage, follow, 29)).toEqual([
    { firstBlock: 10, lastBlock: 19, closed: true, waits: false },
  ]);
});

test('the end of a finite range closes the run only when all of it is final', () => {
  const coverage = { ...none, staged: [{ firstBlock: 0, lastBlock: 20 }] };
  expect(toRuns(coverage, [{ firstBlock: 0, lastBlock: 20 }], 15)).toEqual([
    { firstBlock: 0, lastBlock: 15, closed: false, waits: false },
  ]);
  expect(toRuns(coverage, [{ firstBlock: 0, lastBlock: 20 }], 20)).toEqual([
    { firstBlock: 0, lastBlock: 20, closed: true, waits: false },
  ]);
});

test('a paused range keeps nothing beside it waiting, and the runs within it wait until it goes on', () => {
  const active = [{ firstBlock: 0, lastBlock: 49 }];
  const paused = [{ firstBlock: 50, lastBlock: 99 }];
  const staged = (firstBlock: number, lastBlock: number) => ({
    ...none,
    staged: [{ firstBlock, lastBlock }],
  });
  // No block after its last one is still to come: the small bundle there need not wait.
  expect(toRuns(staged(0, 49), active, 99, paused)).toEqual([
    { firstBlock: 0, lastBlock: 49, closed: true, waits: false },
  ]);
  expect(
    toRuns(staged(50, 60), [{ firstBlock: 61, lastBlock: 99 }], 99, [{ firstBlock: 0, lastBlock: 49 }]),
  ).toMatchObject([{ closed: false, waits: false }]);
  expect(toRuns(staged(60, 70), active, 99, paused)).toMatchObject([{ closed: false, waits: true }]);
});
