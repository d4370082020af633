import { describe, expect, it } from 'vitest';
import { ifRangePasses, matchPasses, noneMatchHits } from './entity-tags.js';

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
