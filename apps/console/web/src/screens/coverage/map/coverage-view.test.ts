import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyKey,
  extendSelection,
  getBlock,
  moveWithin,
  pan,
  parseRange,
  selectBetween,
  type View,
  zoom,
} from './coverage-view.js';

const WHOLE: View = { from: 1_000, to: 23_000_000 };
const view = fc
  .tuple(fc.integer({ min: WHOLE.from, max: WHOLE.to }), fc.integer({ min: 0, max: 23_000_000 }))
  .map(([from, size]) => moveWithin({ from, to: from + size }, WHOLE));
const place = fc.double({ min: 0, max: 1, noNaN: true });

const isView = ({ from, to }: View): void => {
  expect(Number.isInteger(from) && Number.isInteger(to)).toBe(true);
  expect(from).toBeGreaterThanOrEqual(WHOLE.from);
  expect(to).toBeGreaterThanOrEqual(from);
  expect(to).toBeLessThanOrEqual(WHOLE.to);
};

describe('a view', () => {
  it('stays whole blocks within the whole, whatever is done to it', () => {
    const factor = fc.double({ min: 0.01, max: 100, noNaN: true });
    const share = fc.double({ min: -3, max: 3, noNaN: true });
    fc.assert(
      fc.property(view, factor, place, share, (before, by, at, part) => {
        isView(before);
        isView(zoom(before, WHOLE, by, at));
        isView(pan(before, WHOLE, part));
        for (const key of ['+', '-', 'ArrowLeft', 'ArrowRight', 'Home', 'End', '0']) {
          isView(applyKey(key, before, WHOLE) as View);
        }
      }),
    );
  });

  it('zooms in around the block under the pointer, down to that one block', () => {
    fc.assert(
      fc.property(view, place, (before, at) => {
        const block = getBlock(before, at);
        const next = zoom(before, WHOLE, 0.5, at);
        expect(next.from).toBeLessThanOrEqual(block);
        expect(next.to).toBeGreaterThanOrEqual(block);
        expect(zoom(before, WHOLE, 0, at)).toEqual({ from: block, to: block });
      }),
    );
  });

  it('reaches one block and the whole again by keys alone', () => {
    let now = WHOLE;
    for (let times = 0; times < 40; times += 1) now = applyKey('+', now, WHOLE) as View;
    expect(now.from).toBe(now.to);
    for (let times = 0; times < 40; times += 1) now = applyKey('-', now, WHOLE) as View;
    expect(now).toEqual(WHOLE);
  });

  it('moves by the arrows and to the ends, keeping its size', () => {
    const now = { from: 5_000, to: 5_099 };
    expect(applyKey('ArrowRight', now, WHOLE)).toEqual({ from: 5_025, to: 5_124 });
    expect(applyKey('ArrowLeft', now, WHOLE)).toEqual({ from: 4_975, to: 5_074 });
    expect(applyKey('Home', now, WHOLE)).toEqual({ from: 1_000, to: 1_099 });
    expect(applyKey('End', now, WHOLE)).toEqual({ from: 22_999_901, to: 23_000_000 });
    expect(applyKey('ArrowRight', { from: 7_000, to: 7_000 }, WHOLE)).toEqual({ from: 7_001, to: 7_001 });
    expect(applyKey('a', now, WHOLE)).toBeNull();
  });
});

it('a range is read as people write it, cut at the whole, and refused where it is none', () => {
  for (const text of ['12,000-13,999', ' 12000 – 13999 ', '12_000 to 13_999']) {
    expect(parseRange(text, WHOLE)).toEqual({ from: 12_000, to: 13_999 });
  }
  expect(parseRange('17', { from: 0, to: 99 })).toEqual({ from: 17, to: 17 });
  expect(parseRange('0-99999999', WHOLE)).toEqual(WHOLE);
  for (const text of ['', 'x', '9-8', '-5', '1-2-3', '1.5-2', '1-2', '23000001', '99999999999999999999']) {
    expect(parseRange(text, WHOLE)).toBeNull();
  }
});

it('dragging selects the blocks between two places, in either direction and one at least', () => {
  const shown = { from: 100, to: 199 };
  expect(selectBetween(shown, 0.25, 0.5)).toEqual({ from: 125, to: 150 });
  expect(selectBetween(shown, 0.5, 0.25)).toEqual({ from: 125, to: 150 });
  expect(selectBetween(shown, 1, 1)).toEqual({ from: 199, to: 199 });
});

it('Shift and an arrow key select from the middle on, and never beyond the view', () => {
  const shown = { from: 0, to: 399 };
  const first = extendSelection('ArrowRight', null, shown);
  expect(first).toEqual({ from: 200, to: 210 });
  expect(extendSelection('ArrowRight', { from: 200, to: 395 }, shown)).toEqual({ from: 200, to: 399 });
  expect(extendSelection('ArrowLeft', first, shown)).toEqual({ from: 200, to: 200 });
  expect(extendSelection('ArrowLeft', { from: 200, to: 200 }, shown)).toEqual({ from: 200, to: 200 });
  expect(extendSelection('Home', null, shown)).toBeNull();
});
