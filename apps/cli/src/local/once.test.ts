import { expect, test } from 'vitest';
import { memoryIo } from '../testing/run.js';
import { createWaiting } from './once.js';
import { createReporter } from './report.js';

function waitingAt(json: boolean) {
  const { io, said } = memoryIo();
  let now = 1_000_000;
  const waiting = createWaiting(createReporter(io, { json }), () => now);
  return {
    waiting,
    out: () => said.out,
    later(ms: number) {
      now += ms;
    },
  };
}

test('what is waited for is said with the block that is wanted and the head, at once and once per minute', () => {
  const { waiting, out, later } = waitingAt(false);
  const line =
    'Waiting for block 2,500 to be finalized: the head is block 2,103, the newest finalized block is 2,099.\n';
  waiting({ head: 2_103, finalized: 2_099 }, 2_500);
  expect(out()).toBe(line);
  later(59_999);
  waiting({ head: 2_104, finalized: 2_100 }, 2_500);
  expect(out()).toBe(line);
  later(1);
  waiting({ head: 2_105, finalized: 2_101 }, 2_500);
  expect(out().split('\n')).toHaveLength(3);
});

test('programs get it as an event', () => {
  const { waiting, out } = waitingAt(true);
  waiting({ head: 103, finalized: 100 }, 500);
  expect(JSON.parse(out())).toEqual({ event: 'waiting', block: 500, head: 103, finalized: 100 });
});

test.each([
  ['a chain whose head is not known yet', { head: null, finalized: null }],
  ['a block that is final', { head: 600, finalized: 500 }],
])('nothing is said of %s', (_, status) => {
  const { waiting, out } = waitingAt(false);
  waiting(status, 500);
  expect(out()).toBe('');
});
