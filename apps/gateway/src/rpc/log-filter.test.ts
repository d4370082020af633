import { expect, it } from 'vitest';
import { logFilter, readLogFilter } from './log-filter.js';

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

it('ten thousand addresses or alternatives of a topic are refused with the bound, as geth does', () => {
  const hashes = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => `0x${n.toString(16).padStart(64, '0')}`);
  const addresses = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => `0x${n.toString(16).padStart(40, '0')}`);
  expect(logFilter({ address: addresses(1_000), topics: [null, hashes(1_000)] })).toBeNull();
  expect(logFilter({ topics: [null, hashes(10_000)] })).toBe(
    'topics: 10000 alternatives at index 1, at most 1000',
  );
  expect(logFilter({ address: addresses(10_000) })).toBe('address: 10000 addresses, at most 1000');
});
