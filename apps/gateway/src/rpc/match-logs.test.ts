import { expect, it } from 'vitest';
import { matchesFilter } from './match-logs.js';

/** Whether nothing is wrong with these bytes, whole or as the beginning of more. */
function fitsFilter(check: ReturnType<typeof matchesFilter>, text: string): boolean {
  const one = check();
  return one.push(Buffer.from(text)) === null && one.end() === null;
}

const [A, B] = [`0x${'ab'.repeat(20)}`, `0x${'cd'.repeat(20)}`];
const [T, U] = [`0x${'12'.repeat(32)}`, `0x${'34'.repeat(32)}`];
const log = (changes: object = {}) => ({
  address: A,
  topics: [T, U],
  blockNumber: '0x5',
  data: '0x',
  ...changes,
});
const range = { from: 5, to: 6 };

it.each<[string, Parameters<typeof matchesFilter>[0], object[], boolean]>([
  ['none', {}, [], true],
  ['of the range', {}, [log(), log({ blockNumber: '0x6' })], true],
  ['of a block before it', {}, [log(), log({ blockNumber: '0x4' })], false],
  ['of a block behind it', {}, [log({ blockNumber: '0x7' })], false],
  [
    'of the address',
    { address: [B, A] },
    [log(), log({ address: A.toUpperCase().replace('0X', '0x') })],
    true,
  ],
  ['of another address', { address: [B] }, [log({ address: B }), log()], false],
  ['with the topics', { topics: [null, [T, U]] }, [log()], true],
  ['with another topic', { topics: [[U]] }, [log()], false],
  ['with too few topics', { topics: [null, null, [T]] }, [log()], false],
  ['without a topic that may be any', { topics: [[T], null, null] }, [log()], true],
  ['without the fields', { address: [A], topics: [[T]] }, [{ blockNumber: '0x5' }], true],
])('logs %s: %j', (_, filter, logs, fits) => {
  for (const space of [0, 2]) {
    expect(fitsFilter(matchesFilter(filter, range), JSON.stringify(logs, null, space))).toBe(fits);
  }
});

it('of a range that ends with a tag may be of any later block', () => {
  const check = matchesFilter({}, { from: 5, to: null });
  expect(fitsFilter(check, JSON.stringify([log({ blockNumber: '0x7fff' })]))).toBe(true);
  expect(fitsFilter(check, JSON.stringify([log({ blockNumber: '0x4' })]))).toBe(false);
});

it('reads what a piece of an answer ends in the middle of as what fits', () => {
  const text = JSON.stringify([log(), log()]);
  const check = matchesFilter({ address: [A], topics: [[T]] }, range);
  for (let length = 0; length < text.length; length++)
    expect(fitsFilter(check, text.slice(0, length))).toBe(true);
});
