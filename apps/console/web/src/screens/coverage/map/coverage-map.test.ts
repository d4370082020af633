import { describe, expect, it } from 'vitest';
import { drawMap, ROW } from './coverage-canvas.js';
import { type CoverageMap, getSpot, toStripes } from './coverage-map.js';

/** Blocks 6 to 29 in columns of 4: 6-7, 8-11, …, 28-29. */
type Brush = Parameters<typeof drawMap>[0];
const BRUSH = {
  fillStyle: '',
  font: '',
  textAlign: 'left',
  textBaseline: 'top',
  clearRect: () => undefined,
} as const;
const ROW_OF_LOGS: CoverageMap['kinds'][number] = {
  kind: 'logs',
  worst: '..ba.bb',
  missing: [0, 0, 1, 4, 0, 4, 2],
};
const MAP: CoverageMap = {
  network: 'main',
  head: 29,
  finalized: 29,
  completeThrough: null,
  whole: { from: 6, to: 29 },
  from: 6,
  to: 29,
  width: 4,
  queueSeen: true,
  reasons: ['quarantined', 'waiting'],
  kinds: [ROW_OF_LOGS],
};
const ALL = { from: 6, to: 29 };

describe('the picture', () => {
  it('shows each column where its blocks are', () => {
    const stripes = toStripes(MAP, ROW_OF_LOGS, ALL, 24);
    expect(stripes.map(({ x, width, reason, missing }) => [x, width, reason, missing])).toEqual([
      [0, 6, null, 0],
      [6, 4, 'waiting', 0.25],
      [10, 4, 'quarantined', 1],
      [14, 4, null, 0],
      [18, 6, 'waiting', 1],
    ]);
  });

  it('shows the worst reason where columns are narrower than a pixel, and what was not read as such', () => {
    expect(toStripes(MAP, ROW_OF_LOGS, ALL, 1)).toEqual([
      { x: 0, width: 1, reason: 'quarantined', missing: 0.5 },
    ]);
    const wider = toStripes(MAP, ROW_OF_LOGS, { from: 0, to: 47 }, 8);
    expect(wider.map(({ reason }) => reason)).toEqual([
      undefined,
      null,
      'quarantined',
      'quarantined',
      'waiting',
      undefined,
    ]);
  });

  it('draws a view of a few blocks from wide columns until narrower ones are read', () => {
    const stripes = toStripes(MAP, ROW_OF_LOGS, { from: 15, to: 16 }, 100);
    expect(stripes).toEqual([
      { x: 0, width: 50, reason: 'waiting', missing: 0.25 },
      { x: 50, width: 50, reason: 'quarantined', missing: 1 },
    ]);
  });

  it('tells the blocks of a place, cut at what was read', () => {
    expect(getSpot(MAP, ROW_OF_LOGS, { from: 7, to: 7 })).toEqual({
      from: 6,
      to: 7,
      reason: null,
      missing: 0,
    });
    expect(getSpot(MAP, ROW_OF_LOGS, { from: 17, to: 17 })).toEqual({
      from: 16,
      to: 19,
      reason: 'quarantined',
      missing: 4,
    });
    expect(getSpot(MAP, ROW_OF_LOGS, { from: 30, to: 40 })).toBeNull();
  });

  it('has for every hole its colour, for wide ones a letter, and lines where somebody must act', () => {
    const drawn: [string, number, number, number, number][] = [];
    const letters: [string, number][] = [];
    const brush: Brush = {
      ...BRUSH,
      fillRect: (...box) => void drawn.push([String(brush.fillStyle), ...box]),
      fillText: (text, x) => void letters.push([text, x]),
    };
    const colours = {
      published: 'green',
      queue: 'blue',
      broken: 'red',
      ground: 'white',
      unread: 'grey',
    };
    drawMap(brush, MAP, ALL, 480, colours);
    const of = (colour: string) => drawn.filter(([each]) => each === colour);
    expect(of('blue').map(([, x, , width]) => [x, width])).toEqual([
      [120, 80],
      [360, 120],
    ]);
    expect(of('red')).toEqual([['red', 200, 0, 80, ROW - 4]]);
    expect(of('green').reduce((sum, [, , , width]) => sum + width, 0)).toBe(480);
    expect(of('white').filter(([, x, , width]) => x === 200 && width === 80)).toHaveLength(6);
    // A quarter of the row is too low for a letter.
    expect(letters).toEqual([
      ['W', 420],
      ['Q', 240],
    ]);
  });

  it('has a single bad block of a million at least three pixels wide and half a row high', () => {
    const boxes: [number, number, number, number][] = [];
    const brush: Brush = {
      ...BRUSH,
      fillRect: (...box) => void (brush.fillStyle === 'red' && boxes.push(box)),
      fillText: () => undefined,
    };
    const worst = `${'.'.repeat(300)}a${'b'.repeat(699)}`;
    const missing = Array.from(worst, (letter) => Number(letter !== '.'));
    const map = { ...MAP, from: 0, to: 1_023_999, width: 1_024, kinds: [{ ...ROW_OF_LOGS, worst, missing }] };
    drawMap(brush, map, { from: 0, to: 1_023_999 }, 1_000, { broken: 'red' });
    expect(boxes).toEqual([[299, ROW - 4 - ROW / 2, 3, ROW / 2]]);
  });
});
