import { expect, it } from 'vitest';
import { createCallBatchSizes } from './batch-size.js';

const M = 'eth_getBalance';

/** Sizes of an upstream that answers single calls in 10 ms, and a clock. */
function known(bytes = 100) {
  const clock = { ms: 0, elapsed: () => clock.ms };
  const sizes = createCallBatchSizes(clock);
  for (let n = 0; n < 4; n++) sizes.single(M, 10, bytes);
  return { clock, sizes };
}

/** Reports batches of the size of the moment. */
function answer(
  sizes: ReturnType<typeof createCallBatchSizes>,
  times: number,
  ms: number,
  bytes = 100,
): void {
  for (let n = 0; n < times; n++) {
    const calls = sizes.most(M);
    sizes.answered(M, calls, ms, calls * bytes);
  }
}

it('sends calls alone until four of them were timed', () => {
  const sizes = createCallBatchSizes({ elapsed: () => 0 });
  for (let n = 0; n < 3; n++) sizes.single(M, 10, 100);
  expect(sizes.most(M)).toBe(1);
  sizes.single(M, 10, 100);
  expect(sizes.most(M)).toBe(4);
  expect(sizes.most('eth_call')).toBe(1);
});

it('grows while batches are as fast as single calls', () => {
  const { sizes } = known();
  answer(sizes, 4, 15);
  expect(sizes.most(M)).toBe(8);
  answer(sizes, 16, 15);
  expect(sizes.most(M)).toBe(100);
});

it('shrinks if they are slower, ends at single calls, and tries again after a minute, then two', () => {
  const { clock, sizes } = known();
  answer(sizes, 4, 15);
  answer(sizes, 8, 40);
  expect(sizes.most(M)).toBe(4);
  answer(sizes, 16, 40);
  expect(sizes.most(M)).toBe(1);
  clock.ms = 60_000;
  expect(sizes.most(M)).toBe(4);
  for (let n = 0; n < 2; n++) sizes.tooMuch(M);
  clock.ms = 179_000;
  expect(sizes.most(M)).toBe(1);
  clock.ms = 180_000;
  expect(sizes.most(M)).toBe(4);
});

it('tries one batch at a time until one was answered, and none of any method for a minute if it fails', () => {
  const { clock, sizes } = known();
  for (let n = 0; n < 4; n++) sizes.single('eth_call', 10, 100);
  sizes.begun();
  expect([sizes.most(M), sizes.most('eth_call')]).toEqual([1, 1]);
  sizes.tooMuch(M);
  clock.ms = 59_000;
  expect([sizes.most(M), sizes.most('eth_call')]).toEqual([1, 1]);
  clock.ms = 60_000;
  expect(sizes.most('eth_call')).toBe(4);
  sizes.begun();
  sizes.givenUp();
  answer(sizes, 1, 10);
  sizes.begun();
  expect([sizes.most(M), sizes.most('eth_call')]).toEqual([4, 4]);
});

it('joins fewer calls with large answers, and none with answers that are streamed', () => {
  const { sizes } = known(20_000);
  expect(sizes.most(M)).toBe(3);
  sizes.single(M, 10, 200_000);
  expect(sizes.most(M)).toBe(1);
});

it('waits longer for batches of slower calls, and sends slow ones alone', () => {
  const { sizes } = known();
  expect(sizes.patienceMs(M)).toBe(100);
  for (let n = 0; n < 100; n++) sizes.single(M, 40, 100);
  expect(sizes.patienceMs(M)).toBeGreaterThan(300);
  expect(sizes.most(M)).toBe(4);
  for (let n = 0; n < 100; n++) sizes.single(M, 60, 100);
  expect(sizes.most(M)).toBe(1);
});
