import { describe, expect, it } from 'vitest';
import { type Expected, RecordCheck } from './check-records.js';

const hash = (n: number): string => `0x${n.toString(16).padStart(64, 'a')}`;
const quantity = (n: number): string => `0x${n.toString(16)}`;
const ELSE = 'an answer about something else';
const TWICE = 'two logs with the same index in one block';

interface Log {
  blockNumber: unknown;
  logIndex: unknown;
  [field: string]: unknown;
}
const log = (block: number, index: number, more: object = {}): Log => ({
  address: `0x${'ab'.repeat(20)}`,
  topics: [hash(7), hash(8)],
  data: '0x',
  blockNumber: quantity(block),
  transactionHash: hash(block * 100 + index),
  transactionIndex: '0x0',
  blockHash: hash(block),
  logIndex: quantity(index),
  removed: false,
  ...more,
});
const receipt = (block: number, logs: readonly Log[], more: object = {}) => ({
  blockNumber: quantity(block),
  blockHash: hash(block),
  transactionIndex: '0x0',
  logs,
  ...more,
});

/** What is found in a text that comes in pieces of these lengths, over and over. */
function check(expected: Expected, text: string, lengths: readonly number[] = [text.length]): string | null {
  const bytes = Buffer.from(text);
  const one = new RecordCheck(expected);
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const length = lengths[piece % lengths.length] as number;
    const wrong = one.push(bytes.subarray(at, at + length));
    if (wrong !== null) return wrong;
    at += length;
  }
  return one.end();
}

const RANGE: Expected = { blocks: { from: 5, to: 9 }, logs: true };
const BLOCK: Expected = { blocks: { from: 5, to: 5 }, oneBlock: true, logs: true };
const BY_HASH: Expected = { hash: { field: 'blockHash', value: hash(5) }, oneBlock: true, logs: true };
const OF_TAG: Expected = { oneBlock: true, logs: true };

describe('the records of an answer', () => {
  it.each<[string, Expected, unknown, string | null]>([
    ['are none', RANGE, [], null],
    ['are null', BLOCK, null, null],
    ['are in order', RANGE, [log(5, 0), log(5, 1), log(6, 0), log(9, 3)], null],
    ['are in no order', RANGE, [log(9, 3), log(5, 1), log(6, 0), log(5, 0)], null],
    ['are the same one behind each other', RANGE, [log(5, 0), log(5, 1), log(5, 1), log(6, 0)], TWICE],
    ['are the same one far apart', RANGE, [log(5, 1), log(6, 0), log(7, 0), log(5, 1)], TWICE],
    ['are another log of the same place', RANGE, [log(5, 1), log(5, 1, { data: '0x01' })], TWICE],
    ['are twice all', RANGE, [log(5, 0), log(6, 0), log(5, 0), log(6, 0)], TWICE],
    ['have one index in two blocks', RANGE, [log(5, 1), log(6, 1)], null],
    ['are pending', RANGE, [1, 2].map(() => log(5, 0, { blockNumber: null, logIndex: null })), null],
    ['have no index', RANGE, [1, 2].map(() => ({ blockNumber: '0x5' })), null],
    ['are before the range', RANGE, [log(5, 0), log(4, 0)], ELSE],
    ['are behind the range', RANGE, [log(10, 0)], ELSE],
    ['have plain numbers', BLOCK, [{ blockNumber: 5 }, { blockNumber: 5 }], null],
    ['have a wrong plain number', BLOCK, [{ blockNumber: 5 }, { blockNumber: 6 }], ELSE],
    ['are of the block', BLOCK, [receipt(5, [log(5, 0)]), receipt(5, [log(5, 1)])], null],
    ['end with another block', BLOCK, [receipt(5, [log(5, 0)]), receipt(6, [])], ELSE],
    ['have a log of another block', BLOCK, [receipt(5, [log(6, 0)])], ELSE],
    ['have a log twice', BLOCK, [receipt(5, [log(5, 0)]), receipt(5, [log(5, 0)])], TWICE],
    [
      'begin each with the index 0',
      BLOCK,
      [receipt(5, [log(5, 0), log(5, 1)]), receipt(5, [log(5, 0)])],
      TWICE,
    ],
    ['are of the hash', BY_HASH, [receipt(5, [log(5, 0)])], null],
    ['are of the hash in capitals', BY_HASH, [{ blockHash: hash(5).toUpperCase().replace('X', 'x') }], null],
    ['end with another hash', BY_HASH, [receipt(5, []), receipt(5, [], { blockHash: hash(6) })], ELSE],
    ['have no hash', BY_HASH, [{ blockHash: null }, {}], null],
    ['are of one block', OF_TAG, [log(7, 0), log(7, 1)], null],
    ['are of two blocks', OF_TAG, [log(7, 0), log(8, 1)], ELSE],
    [
      'have the other logs of zkSync',
      BLOCK,
      [receipt(5, [log(5, 0)], { l2ToL1Logs: [{ logIndex: '0x0', blockNumber: '0x5' }] })],
      null,
    ],
  ])('%s', (_, expected, value, wrong) => {
    for (const space of [0, 1]) {
      const text = JSON.stringify(value, null, space);
      for (const lengths of [[text.length], [1], [7, 300], [64], [1000]]) {
        expect(check(expected, text, lengths), `${space} ${lengths}`).toBe(wrong);
      }
    }
  });

  it('are not looked for in names that end alike', () => {
    const other = { l1BlockNumber: '0x1', 'x"blockNumber': '0x1', blockNumbers: '0x1', Number: '0x1' };
    expect(check(BLOCK, JSON.stringify([receipt(5, [], other)]))).toBeNull();
  });

  it('are begun with the check of the beginning', () => {
    const beginning = (bytes: Buffer): boolean => bytes.includes('right');
    expect(check({ beginning }, '"right"')).toBeNull();
    expect(check({ beginning }, '"wrong"')).toBe(ELSE);
  });
});

/** What is right of logs, found by parsing. */
function model(logs: readonly Log[], { from, to }: { from: number; to: number }): boolean {
  const places = logs.map(({ blockNumber, logIndex }) => `${String(blockNumber)} ${String(logIndex)}`);
  const inRange = logs.every(({ blockNumber }) => Number(blockNumber) >= from && Number(blockNumber) <= to);
  return inRange && new Set(places).size === places.length;
}

it('finds what parsing finds, however an answer is cut into pieces', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  const verdicts = { right: 0, wrong: 0 };
  for (let round = 0; round < 400; round++) {
    const range = { from: 1000, to: 1000 + random(40) };
    const logs: Log[] = [];
    for (let block = range.from; block <= range.to; block += 1 + random(5)) {
      const data = `0x${'0f'.repeat(random(200))}`;
      for (let index = 0; index < random(6); index++) logs.push(log(block, index * 17, { data }));
    }
    const place = random(logs.length);
    const fault = random(5);
    const some = logs[place];
    if (some !== undefined && fault === 1) logs.splice(random(logs.length), 0, { ...some });
    if (some !== undefined && fault === 2) some.blockNumber = quantity(range.to + random(2));
    if (fault === 3) logs.reverse();
    const isRight = model(logs, range);
    verdicts[isRight ? 'right' : 'wrong'] += 1;
    const text = JSON.stringify(logs, null, random(3));
    const lengths = Array.from({ length: 5 }, () => 1 + random(round % 2 === 0 ? 2000 : 150));
    expect(check({ blocks: range, logs: true }, text, lengths) === null, `round ${round}`).toBe(isRight);
  }
  expect(Math.min(verdicts.right, verdicts.wrong)).toBeGreaterThan(50);
});
