import { describe, expect, it } from 'vitest';
import { createFairTurns, type FairTurns, FIRST, TooManyWaitingError } from './fair-turns.js';
import { CallController } from './signals.js';

/** Callers who note when they begin, and can be ended. */
function places(turns: FairTurns) {
  const begun: unknown[] = [];
  const leaves: [caller: unknown, leave: () => void][] = [];
  return {
    begun,
    enter: (caller: Parameters<FairTurns['enter']>[0], signal = new CallController()) => {
      const began = (leave: () => void): void => {
        begun.push(caller);
        leaves.push([caller, leave]);
      };
      const entered = turns.enter(caller, signal);
      if (entered instanceof Promise) entered.then(began, () => undefined);
      else began(entered);
      return signal;
    },
    /** Ends the first of a caller, or of all, and lets those who wait begin. */
    async end(caller?: unknown): Promise<void> {
      const at = leaves.findIndex(([whose]) => caller === undefined || whose === caller);
      leaves.splice(at, 1)[0]?.[1]();
      await Promise.resolve();
    },
  };
}
const times = (count: number, run: () => void): void => {
  for (let n = 0; n < count; n++) run();
};
const count = (begun: unknown[], caller: unknown): number => begun.filter((each) => each === caller).length;

describe('who shares places', () => {
  it('has all of them while nobody else comes', () => {
    const { begun, enter } = places(createFairTurns(8));
    times(10, () => enter('a'));
    expect(begun).toHaveLength(8);
  });

  it('gives each freed place to who runs fewest, until all have as many', async () => {
    const { begun, end, enter } = places(createFairTurns(5));
    times(10, () => enter('a'));
    times(10, () => enter('b'));
    expect(begun).toEqual(['a', 'a', 'a', 'a', 'a']);
    await end('a');
    await end('a');
    await end('a');
    // One place is kept for a caller who runs nothing.
    expect(begun.slice(5)).toEqual(['b', 'b']);
    await end('b');
    expect(begun.slice(7)).toEqual(['b']);
    enter('c');
    expect(begun.slice(8)).toEqual(['c']);
  });

  it('waits for one call at most, however many another has waiting', async () => {
    const { begun, end, enter } = places(createFairTurns(2));
    times(500, () => enter('a'));
    enter('b');
    await end('a');
    expect(begun.at(-1)).toBe('b');
  });

  it('is served in turn among equals', async () => {
    const { begun, end, enter } = places(createFairTurns(1));
    enter('x');
    for (const caller of ['a', 'a', 'a', 'b', 'b', 'b', 'c']) enter(caller);
    for (let n = 0; n < 7; n++) await end();
    expect(begun.slice(1)).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'b']);
  });

  it('finds a place kept free where several came lately', async () => {
    const { begun, end, enter } = places(createFairTurns(8));
    enter('b');
    await end('b');
    times(20, () => enter('a'));
    expect(count(begun, 'a')).toBe(7);
    enter('b');
    expect(count(begun, 'b')).toBe(2);
    await end('b');
    expect(count(begun, 'a')).toBe(7);
  });

  it('lets what must not wait go before all', async () => {
    const { begun, end, enter } = places(createFairTurns(1));
    times(3, () => enter('a'));
    enter('b');
    enter(FIRST);
    await end();
    expect(begun).toEqual(['a', FIRST]);
  });
});

it('forgets who goes away while it waits', async () => {
  const turns = createFairTurns(1);
  const { begun, end, enter } = places(turns);
  enter('a');
  const gone = enter('b');
  enter('c');
  gone.abort(new Error('gone'));
  expect(turns.waiting).toBe(1);
  await end('a');
  expect(begun).toEqual(['a', 'c']);
  await end('c');
  expect(turns.waiting).toBe(0);
  enter('b');
  expect(begun).toEqual(['a', 'c', 'b']);
});

it('refuses more calls than may wait, of one caller and of all', () => {
  const turns = createFairTurns(1, { each: 2, all: 3 });
  const { enter } = places(turns);
  times(3, () => enter('a'));
  expect(() => enter('a')).toThrow(TooManyWaitingError);
  enter('b');
  expect(() => enter('c')).toThrow(TooManyWaitingError);
});

it('never has more running than places, and never leaves a place free while somebody waits', async () => {
  const turns = createFairTurns(3);
  const { begun, end, enter } = places(turns);
  let ended = 0;
  for (let n = 0; n < 500; n++) {
    if ((n * 7) % 5 < 3) enter(`caller-${(n * 13) % 4}`);
    else if (begun.length > ended) {
      await end();
      ended += 1;
    }
    expect(begun.length - ended).toBeLessThanOrEqual(3);
    if (turns.waiting > 0) expect(begun.length - ended).toBe(3);
  }
});
