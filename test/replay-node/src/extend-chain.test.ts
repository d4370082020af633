import { ALL, type RecordingName } from '@packhouse/recordings';
import { describe, expect, test } from 'vitest';
import { extendChain } from './extend-chain.js';
import { generateChain } from './generate-chain.js';
import { joinChains } from './join-chains.js';
import type { RecordedBlock, RpcBlock, RpcReceipt } from './recorded-block.js';
import { recordedChain } from './recorded-chain.js';
import { ANSWER_PARTS, readValue, type ServedBlock, type ServedChain } from './served-chain.js';
import { expectProved, servedValues } from './testing/oracle.js';

const recording = generateChain({ length: 3, txsPerBlock: 12, startNumber: 14 });

function at(chain: ServedChain, number: number): ServedBlock {
  const block = chain.block(number);
  if (block === undefined) throw new Error(`no block ${number}`);
  return block;
}

async function expectProvedAndLinked(chain: ServedChain, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    const block = at(chain, number);
    const values = servedValues(block);
    expect([Number(values.block.number), values.block.hash]).toEqual([number, block.hash]);
    expect(values.block.parentHash).toBe(block.parentHash);
    if (number > chain.firstNumber) {
      const parent = at(chain, number - 1);
      expect(block.parentHash).toBe(parent.hash);
      expect(block.timestamp).toBeGreaterThan(parent.timestamp);
    }
    expect(chain.toNumber(block.hash)).toBe(number);
    await expectProved(values);
  }
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test('a chain begins with the recording itself and goes on with blocks that all proofs hold for', async () => {
  const chain = extendChain(recording, { length: 20 });
  expect([chain.firstNumber, chain.lastNumber]).toEqual([14, 33]);
  for (const { number, block, receipts, traces } of recording) {
    expect(servedValues(at(chain, number))).toEqual({ block, receipts, traces });
  }
  await expectProvedAndLinked(chain, numbers(14, 33));
});

test('blocks asked for in any order are the same', () => {
  const forwards = extendChain(recording, { length: 9 });
  const backwards = extendChain(recording, { length: 9 });
  const texts = (chain: ServedChain, order: number[]): [number, unknown][] =>
    order.map((number) => [number, servedValues(at(chain, number))]);
  const order = numbers(14, 22);
  expect(texts(backwards, [...order].reverse()).reverse()).toEqual(texts(forwards, order));
});

test('numbers may grow wider on the way, in hex and in decimal, and come back narrower', async () => {
  const chain = extendChain(recording, { length: 300, startNumber: 9_900 });
  await expectProvedAndLinked(chain, [9_900, 9_999, 10_000, 10_199, 9_901]);
  const hex = extendChain(recording, { length: 8, startNumber: 0xfffd });
  await expectProvedAndLinked(hex, numbers(0xfffd, 0x10004));
  await expectProvedAndLinked(extendChain(recording, { length: 5, startNumber: 0 }), numbers(0, 4));
});

test('a text that is still being sent is not written over by the next one', () => {
  const chain = extendChain(recording, { length: 30 });
  const held = at(chain, 20).text('block');
  const before = Buffer.concat([...(held?.pieces() ?? [])]).toString();
  for (const number of [23, 26, 29]) readValue(at(chain, number), 'block');
  expect(Buffer.concat([...(held?.pieces() ?? [])]).toString()).toBe(before);
});

test('single items of an answer are what the whole answer has', () => {
  const chain = extendChain(recording, { length: 9, startNumber: 0xffe });
  for (const part of ['block', 'receipts'] as const) {
    const block = at(chain, 0x1001);
    const whole = readValue(block, part);
    const items = part === 'block' ? (whole as RpcBlock).transactions : (whole as RpcReceipt[]);
    items.forEach((item, index) => {
      expect(JSON.parse(String(block.item(part, index)))).toEqual(item);
    });
    expect(block.item(part, items.length)).toBeUndefined();
  }
});

test('every answer of a repeated block names no hash of the recorded one', () => {
  const chain = extendChain(recording, { length: 6 });
  for (const part of ANSWER_PARTS) {
    const text = JSON.stringify(readValue(at(chain, 18), part));
    expect(text).not.toContain((recording[1] as RecordedBlock).block.hash);
    expect(text.length).toBeGreaterThan(100);
  }
});

test('with varied transactions every transaction of the chain has a hash of its own, and the proofs hold', async () => {
  const chain = extendChain(recording, { length: 12, varyTransactions: true });
  await expectProvedAndLinked(chain, numbers(14, 25));
  const places = numbers(14, 25).flatMap((number) =>
    servedValues(at(chain, number)).block.transactions.map(({ hash }, index) => ({ hash, number, index })),
  );
  expect(new Set(places.map(({ hash }) => hash)).size).toBe(places.length);
  for (const { hash, number, index } of places)
    expect(chain.locateTransaction(hash)).toEqual({ number, index });
  const debug = readValue(at(chain, 22), 'debugCall') as { txHash: string }[];
  expect(debug.map(({ txHash }) => txHash)).toEqual(
    places.filter(({ number }) => number === 22).map(({ hash }) => hash),
  );
});

test('a branch with another seed links to its trunk and has other blocks from there on', async () => {
  const trunk = extendChain(recording, { length: 10 });
  const branch = extendChain(recording, { length: 8, after: at(trunk, 19), seed: 2 });
  const chain = joinChains(trunk, branch);
  expect(chain.lastNumber).toBe(27);
  await expectProvedAndLinked(chain, numbers(14, 27));
  expect(at(chain, 19).hash).toBe(at(trunk, 19).hash);
  expect(at(chain, 20).hash).not.toBe(at(trunk, 20).hash);
  expect(chain.toNumber(at(trunk, 20).hash)).toBeUndefined();
  expect(() => joinChains(trunk, extendChain(recording, { length: 2, startNumber: 20 }))).toThrow(
    'does not link',
  );
});

test('the size of a block follows its header', () => {
  const mined = generateChain({ length: 2, txsPerBlock: 2 });
  const chain = extendChain(mined, { length: 4, startNumber: 0xffff_ffff });
  const sizes = numbers(0xffff_ffff, 0x1_0000_0002).map((number) =>
    Number(servedValues(at(chain, number)).block.size),
  );
  const recorded = mined.map(({ block }) => Number(block.size));
  // The number takes one byte in the recording, four and five bytes here (and a length byte before it).
  expect(sizes).toEqual([recorded[0]! + 4, recorded[1]! + 5, recorded[0]! + 5, recorded[1]! + 5]);
});

test('a recording whose header does not hash to its hash is refused', () => {
  const [first] = generateChain({ length: 1, txsPerBlock: 1 }) as [RecordedBlock];
  first.block.stateRoot = `0x${'1'.repeat(64)}`;
  expect(() => extendChain([first], { length: 2 })).toThrow(/^Block 1 cannot be given a new place/);
  expect(() => extendChain([], { length: 2 })).toThrow('0 recorded ones');
  expect(() => extendChain(recording, { length: 0 })).toThrow('A chain of 0 blocks');
});

describe.each(ALL)('$title', (source) => {
  const blocksOf = (name: RecordingName): RecordedBlock[] => source.blocks<RecordedBlock>(name);

  test('twelve mainnet blocks extend to thousands', async () => {
    const blocks = blocksOf('row');
    expect(blocks).toHaveLength(12);
    const chain = extendChain(blocks, { length: 5_000 });
    await expectProvedAndLinked(chain, [17_686_110, 17_686_121, 17_686_122, 17_691_109]);
    const varied = extendChain(blocks, { length: 14, varyTransactions: true });
    await expectProvedAndLinked(varied, [17_686_122, 17_686_123]);
  });

  test('blocks of every fork can be given a new place', async () => {
    const blocks = blocksOf('forks');
    for (const varyTransactions of [false, true]) {
      const chain = extendChain(blocks, { length: blocks.length, startNumber: 5, varyTransactions });
      await expectProvedAndLinked(chain, numbers(5, 4 + blocks.length));
    }
  });

  test('thousands of mined blocks extend beyond the last, total difficulty included', async () => {
    const blocks = blocksOf('early');
    const chain = extendChain(blocks, { length: blocks.length + 1_808 });
    const { firstNumber: first, lastNumber: last } = chain;
    const next = first + blocks.length;
    await expectProvedAndLinked(chain, [first, first + 1, next - 1, next, next + 1, last]);
    const difficulty = (number: number): bigint =>
      BigInt(String(servedValues(at(chain, number)).block.totalDifficulty));
    const later = next + 808;
    const own = BigInt(String(servedValues(at(chain, later)).block.difficulty));
    expect(difficulty(later) - difficulty(later - 1)).toBe(own);
    expect(difficulty(next) - difficulty(next - 1)).toBe(BigInt(String(blocks[0]?.block.difficulty)));
  });

  test('what is not extended is the recording', async () => {
    const blocks = blocksOf('forks');
    const chain = recordedChain(blocks);
    expect(chain.block(1_000_001)).toBeUndefined();
    for (const { number, block } of blocks) expect(readValue(at(chain, number), 'block')).toEqual(block);
  });
});
