import type { BlockRange } from '@packhouse/chain';
import type { Coverage } from '@packhouse/database';
import { expect, test } from 'vitest';
import { type PackableRun, packableRuns } from './wanted-blocks.js';

const runsOf = (
  coverage: Pick<Coverage, 'staged' | 'published' | 'quarantined'>,
  active: readonly BlockRange[],
  finalized: number,
  paused: readonly BlockRange[] = [],
): PackableRun[] =>
  packableRuns(
    coverage,
    { active: new Map([['logs', active]]), paused: new Map([['logs', paused]]), kinds: ['logs'] },
    'logs',
    finalized,
  );

const none = { staged: [], published: [], quarantined: [] };
const follow = [{ start: 0, end: Number.POSITIVE_INFINITY }];

test('a run is packed from the left end of what is wanted, and stays open while the head moves on', () => {
  expect(runsOf({ ...none, staged: [{ start: 0, end: 99 }] }, follow, 60)).toEqual([
    { start: 0, end: 60, closed: false, waits: false },
  ]);
});

test('a run with a missing left neighbour waits', () => {
  expect(runsOf({ ...none, staged: [{ start: 50, end: 99 }] }, [{ start: 0, end: 99 }], 99)).toEqual([
    { start: 50, end: 99, closed: true, waits: true },
  ]);
});

test('a quarantined block ends the bundle before it and begins the one behind it', () => {
  const coverage = {
    published: [],
    staged: [
      { start: 0, end: 9 },
      { start: 11, end: 20 },
    ],
    quarantined: [{ start: 10, end: 10 }],
  };
  expect(runsOf(coverage, [{ start: 0, end: 20 }], 20)).toEqual([
    { start: 0, end: 9, closed: true, waits: false },
    { start: 11, end: 20, closed: true, waits: false },
  ]);
});

test('a run between published neighbours is closed', () => {
  const coverage = {
    published: [
      { start: 0, end: 9 },
      { start: 20, end: 29 },
    ],
    staged: [{ start: 0, end: 29 }],
    quarantined: [],
  };
  expect(runsOf(coverage, follow, 29)).toEqual([{ start: 10, end: 19, closed: true, waits: false }]);
});

test('the end of a finite range closes the run only when all of it is final', () => {
  const coverage = { ...none, staged: [{ start: 0, end: 20 }] };
  expect(runsOf(coverage, [{ start: 0, end: 20 }], 15)).toEqual([
    { start: 0, end: 15, closed: false, waits: false },
  ]);
  expect(runsOf(coverage, [{ start: 0, end: 20 }], 20)).toEqual([
    { start: 0, end: 20, closed: true, waits: false },
  ]);
});

test('a paused range keeps nothing beside it waiting, and the runs within it wait until it goes on', () => {
  const active = [{ start: 0, end: 49 }];
  const paused = [{ start: 50, end: 99 }];
  const staged = (start: number, end: number) => ({ ...none, staged: [{ start, end }] });
  // No block after its last one is still to come: the small bundle there need not wait.
  expect(runsOf(staged(0, 49), active, 99, paused)).toEqual([
    { start: 0, end: 49, closed: true, waits: false },
  ]);
  expect(runsOf(staged(50, 60), [{ start: 61, end: 99 }], 99, [{ start: 0, end: 49 }])).toMatchObject([
    { closed: false, waits: false },
  ]);
  expect(runsOf(staged(60, 70), active, 99, paused)).toMatchObject([{ closed: false, waits: true }]);
});
