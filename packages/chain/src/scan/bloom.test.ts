import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { putDigits, withRegions } from '../../test/kernel-parts.js';
import { BLOOM_BYTES, BloomMaker } from '../encode/bloom.js';
import { createKeccak256, toHex } from '../encode/keccak.js';
import type { LogRecord } from '../record/log.js';

/** More than are remembered. */
const MANY = 40_000;
/** See kernel/memory.ts. */
const TABLES = 0x10000;
const MEMO = 0x40000;

const { parts, regions } = withRegions(256 + 64, 64);
const [into, digitsAt] = regions as [number, number];
let maker: BloomMaker;
beforeAll(async () => {
  maker = new BloomMaker(await createKeccak256());
});

type Log = Pick<LogRecord, 'address' | 'topics'>;
const hexString = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex);
const log = fc.record({
  address: hexString(20),
  topics: fc.array(hexString(32), { maxLength: 4 }),
}) as fc.Arbitrary<Log>;
const numbered = (index: number): Log => ({
  address: `0x${index.toString(16).padStart(40, '0')}`,
  topics: [`0x${index.toString(16).padStart(64, '0')}`, `0x${index.toString(16).padEnd(64, '0')}`],
});

const addHex = (hex: string) => parts.addToBloom(digitsAt, putDigits(parts, digitsAt, hex.slice(2)));
function getBloom(logs: readonly Log[]): string {
  parts.openBloom();
  for (const { address, topics } of logs) {
    addHex(address);
    topics.forEach(addHex);
  }
  return toHex(parts.bytes().subarray(parts.BLOOM.value, parts.BLOOM.value + BLOOM_BYTES));
}

it("sets the prover's bits, however often an item comes", () => {
  fc.assert(
    fc.property(fc.array(log, { maxLength: 20 }), (logs) => {
      const expected = toHex(maker.of(logs));
      expect(getBloom(logs)).toBe(expected);
      expect(getBloom([...logs, ...logs])).toBe(expected);
    }),
  );
});

it('takes an address and a topic that begins with it for two things', () => {
  const address = `0x${'ab'.repeat(20)}`;
  const topic = `${address}${'00'.repeat(12)}`;
  const alone = getBloom([{ address, topics: [] }]);
  expect(getBloom([{ address, topics: [topic] }])).toBe(toHex(maker.of([{ address, topics: [topic] }])));
  expect(getBloom([{ address, topics: [] }])).toBe(alone);
});

it('stays right when it has to forget, and remembers in no memory but its own', () => {
  const regionsBefore = Buffer.from(parts.bytes().subarray(into, into + 256));
  for (let from = 0; from < MANY; from += 100) {
    const logs = Array.from({ length: 100 }, (_, index) => numbered(from + index));
    if (getBloom(logs) !== toHex(maker.of(logs))) throw new Error(`Logs from ${from} on have other bits.`);
  }
  const first = Array.from({ length: 100 }, (_, index) => numbered(index));
  expect(getBloom(first)).toBe(toHex(maker.of(first)));
  expect(
    parts
      .bytes()
      .subarray(TABLES, MEMO)
      .every((byte) => byte === 0),
  ).toBe(true);
  expect(parts.bytes().subarray(into, into + 256)).toEqual(regionsBefore);
});

it('adds blooms up', () => {
  parts
    .bytes()
    .fill(0, into, into + 256)
    .fill(0xee, into + 256, into + 320);
  const logs = [numbered(1), numbered(2), numbered(3)];
  for (const one of logs) {
    getBloom([one]);
    parts.orBloom(into);
  }
  expect(toHex(parts.bytes().subarray(into, into + 256))).toBe(toHex(maker.of(logs)));
  expect(parts.bytes().subarray(into + 256, into + 320)).toEqual(Buffer.alloc(64, 0xee));
});
