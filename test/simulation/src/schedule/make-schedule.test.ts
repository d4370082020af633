import { describe, expect, test } from 'vitest';
import { createRandom } from '../random.js';
import { describeAction } from './describe-action.js';
import { makeSchedule } from './make-schedule.js';

describe('a schedule', () => {
  test('is the same for the same seed, and a longer one begins with it', () => {
    expect(makeSchedule(7, 200)).toEqual(makeSchedule(7, 200));
    expect(makeSchedule(7, 200).slice(0, 50)).toEqual(makeSchedule(7, 50));
    expect(makeSchedule(8, 50)).not.toEqual(makeSchedule(7, 50));
  });

  test('has every kind of action, and every port is disturbed', () => {
    const actions = makeSchedule(1, 5_000).map(({ action }) => action.do);
    expect([...new Set(actions)].sort()).toEqual([
      'addBackfill',
      'finalize',
      'grow',
      'kill',
      'killAt',
      'nodeChainId',
      'nodeFreeze',
      'nodeLag',
      'nodeLie',
      'nodeRestart',
      'nodeStorm',
      'nodeTrouble',
      'nodesCalm',
      'pause',
      'pgCut',
      'pgDeadlock',
      'pgError',
      'pgLocks',
      'pgRestart',
      'pgTerminate',
      'queueDelete',
      'queueDrop',
      'queueLoseLocks',
      'queueTwice',
      'queueWipe',
      'reorganise',
      'rolling',
      'setBackfill',
      'storeTrouble',
      'terminate',
    ]);
  });

  test('begins with life, so that there is something to disturb', () => {
    for (let seed = 0; seed < 200; seed++)
      expect(makeSchedule(seed, 1)[0]?.action.do).toMatch(
        /^(grow|finalize|reorganise|addBackfill|setBackfill)$/,
      );
  });

  test('is said in lines that name what was drawn', () => {
    expect(describeAction({ do: 'pgCut', who: { role: 'packer', index: 1 }, nth: 3, when: 'after' })).toBe(
      'pgCut who=packer#1 nth=3 when=after',
    );
    expect(
      describeAction({ do: 'addBackfill', from: 0.25, to: 1, kinds: ['logs', 'traces'], priority: 2 }),
    ).toBe('addBackfill from=0.25 to=1 kinds=logs+traces priority=2');
  });
});

test('draws stay within their bounds', () => {
  const random = createRandom(3);
  const drawn = Array.from({ length: 2_000 }, () => random.between(2, 5));
  expect([...new Set(drawn)].sort()).toEqual([2, 3, 4, 5]);
  const units = drawn.map(() => random.unit());
  expect(Math.min(...units)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...units)).toBeLessThan(1);
  expect(
    new Set(
      Array.from({ length: 200 }, () =>
        random.weighted([
          [1, 'a'],
          [0, 'b'],
          [2, 'c'],
        ]),
      ),
    ),
  ).toEqual(new Set(['a', 'c']));
});
