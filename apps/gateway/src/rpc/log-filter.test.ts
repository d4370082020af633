import { expect, it } from 'vitest';
import { readLogFilter } from './log-filter.js';

const TRANSFER = `0xDD${'f'.repeat(62)}`;
const small = TRANSFER.toLowerCase();

it('a topic that matches anything still asks for a log with as many topics', () => {
  expect(readLogFilter({ topics: [TRANSFER, null, null, null] })).toEqual({
    topics: [[small], null, null, null],
  });
  expect(readLogFilter({ topics: [null] })).toEqual({ topics: [null] });
});

it('what means the same is written the same', () => {
  const places = { topics: [[small], null] };
  for (const same of [
    [TRANSFER, null],
    [[small], []],
    [[TRANSFER], [null, small]],
  ]) {
    expect(readLogFilter({ topics: same })).toEqual(places);
  }
  expect(readLogFilter({ topics: [], address: [] })).toEqual(readLogFilter({ topics: null }));
});
