import { KINDS } from '@packhouse/chain';
import { describe, expect, test } from 'vitest';
import { checkRange, parseBlockNumber, parseCount, parseInteger, parseKinds } from './parse.js';

describe('a block number', () => {
  test.each([
    ['0', 0],
    ['17000000', 17_000_000],
    ['17_000_000', 17_000_000],
    ['17,000,000', 17_000_000],
    ['17M', 17_000_000],
    ['17.5m', 17_500_000],
    ['17e6', 17_000_000],
    ['900k', 900_000],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('%s is read', (text, number) => {
    expect(parseBlockNumber(text, '--from')).toBe(number);
  });

  test.each([
    '-1',
    '+1',
    '0x10',
    '1.5e0',
    '1e17',
    '1.5',
    '',
    ' 7',
    'latest',
    '9007199254740992',
    '99999999999999999999',
    '17_00',
    '_1',
    '٣',
  ])('"%s" is refused with what was given and an example', (text) => {
    expect(() => parseBlockNumber(text, '--from')).toThrow(
      expect.objectContaining({
        code: 'RANGE_INVALID',
        message: `--from takes a block number, got "${text}".`,
        hint: 'For example --from 17000000 or --from 17M.',
      }),
    );
  });
});

test('a reversed range is refused with the range that was meant', () => {
  expect(() => checkRange(20, 10)).toThrow(
    expect.objectContaining({ code: 'RANGE_INVALID', hint: 'Did you mean --from 10 --to 20?' }),
  );
  expect(() => checkRange(10, 10)).not.toThrow();
});

describe('kinds', () => {
  test('are a list, in any order and with spaces, or all', () => {
    expect(parseKinds('all')).toEqual(KINDS);
    expect(parseKinds('logs')).toEqual(['logs']);
    expect(parseKinds('traces, blocks')).toEqual(['blocks', 'traces']);
    expect(parseKinds('logs,logs')).toEqual(['logs']);
  });

  test.each(['blobs', 'logs,blobs', '', 'logs,', 'Logs', 'all,logs'])(
    '"%s" is refused by the name that is wrong',
    (text) => {
      expect(() => parseKinds(text)).toThrow(expect.objectContaining({ code: 'KIND_UNKNOWN' }));
    },
  );
});

test('a whole number has bounds', () => {
  expect(parseInteger('8080', '--port', 1, 65_535)).toBe(8_080);
  for (const text of ['0', '65536', '-1', '80.5', '0x50', 'http', '']) {
    expect(() => parseInteger(text, '--port', 1, 65_535)).toThrow(
      expect.objectContaining({
        code: 'USAGE',
        message: `--port takes a whole number from 1 to 65535, got "${text}".`,
      }),
    );
  }
});

test.each([
  ['1', 1],
  ['5M', 5_000_000],
  ['3k', 3_000],
  ['2.3M', 2_300_000],
  ['1_000,000', 1_000_000],
])('the count %j is %d', (text, count) => {
  expect(parseCount(text, '--per-day')).toBe(count);
});

test.each(['', '0', '-1', '1.5', '0.0001k', '1e3', '5 M', '5T', '99999999999M'])('%j is no count', (text) => {
  expect(() => parseCount(text, '--per-day')).toThrow(/--per-day takes a whole number of at least 1/);
});
