import { describe, expect, it } from 'vitest';
import { byteRange, ifRangePasses, matchPasses, noneMatchHits } from './file-headers.js';

const TAG = '"abc"';

describe('preconditions on an entity tag', () => {
  it('If-None-Match hits by a list, by a weak tag and by *', () => {
    for (const header of ['"abc"', 'W/"abc"', '"x", "abc"', '"x",W/"abc"', ' * ']) {
      expect(noneMatchHits(header, TAG), header).toBe(true);
    }
    for (const header of ['"abcd"', 'abc', '', '"x", "y"'])
      expect(noneMatchHits(header, TAG), header).toBe(false);
  });

  it('If-Match passes for a strong tag only', () => {
    for (const header of ['"abc"', '"x", "abc"', '*']) expect(matchPasses(header, TAG), header).toBe(true);
    for (const header of ['W/"abc"', '"x"', '']) expect(matchPasses(header, TAG), header).toBe(false);
  });

  it('If-Range lets Range count for this very file, never for a date', () => {
    expect(ifRangePasses(undefined, TAG)).toBe(true);
    expect(ifRangePasses('"abc"', TAG)).toBe(true);
    expect(ifRangePasses('W/"abc"', TAG)).toBe(false);
    expect(ifRangePasses('Wed, 21 Oct 2015 07:28:00 GMT', TAG)).toBe(false);
  });
});

describe('a Range header', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=10-19', { start: 10, end: 19 }],
    ['bytes=90-', { start: 90, end: 99 }],
    ['bytes=90-1000', { start: 90, end: 99 }],
    ['bytes=-10', { start: 90, end: 99 }],
    ['bytes=-1000', { start: 0, end: 99 }],
    ['BYTES = 1-2', { start: 1, end: 2 }],
  ])('asks for a part: %s', (header, range) => {
    expect(byteRange(header, 100)).toEqual(range);
  });

  it.each([undefined, '', 'bytes=5-4', 'bytes=a-b', 'bytes=-', 'items=0-1', 'bytes=0-1,5-6', 'bytes=0x1-2'])(
    'does not count where it is absent, malformed or names several ranges: %s',
    (header) => {
      expect(byteRange(header, 100)).toBe('whole');
    },
  );

  it.each(['bytes=100-', 'bytes=100-200', 'bytes=-0', 'bytes=99999999999999999999-'])(
    'cannot be satisfied outside of the file: %s',
    (header) => {
      expect(byteRange(header, 100)).toBe('unsatisfiable');
    },
  );
});
