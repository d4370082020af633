import { deflateRawSync } from 'node:zlib';
import { RLP } from '@ethereumjs/rlp';
import { beforeAll, describe, expect, test } from 'vitest';
import { toCallFrame, tracesByTransaction } from './debug-traces.js';
import { generateChain } from './generate-chain.js';
import type { RecordedBlock, RpcTrace } from './recorded-block.js';
import { expectProved, oracleRoot } from './testing/oracle.js';

let blocks: RecordedBlock[];
beforeAll(() => {
  blocks = generateChain({ length: 6, seed: 5, startNumber: 100 });
});

describe('generated blocks', () => {
  test('hold every proof and link to each other', async () => {
    for (const [index, { number, block, receipts, traces }] of blocks.entries()) {
      expect(number).toBe(100 + index);
      await expectProved({ block, receipts: receipts ?? [], traces: traces ?? [] });
      if (index > 0) expect(block.parentHash).toBe(blocks[index - 1]?.block.hash);
      const withdrawals = (block.withdrawals as Record<string, string>[]).map((one) =>
        RLP.encode([BigInt(one.index!), BigInt(one.validatorIndex!), one.address!, BigInt(one.amount!)]),
      );
      expect(await oracleRoot(withdrawals)).toBe(block.withdrawalsRoot);
    }
  });

  test('have one trace tree a transaction whose root agrees with it and whose counts agree with its calls', () => {
    for (const { block, receipts, traces } of blocks) {
      const groups = tracesByTransaction(traces ?? []);
      expect(groups.length).toBe(block.transactions.length);
      groups.forEach((group, index) => {
        const transaction = block.transactions[index];
        const root = group[0] as RpcTrace;
        expect(root.transactionPosition).toBe(index);
        expect([root.action.from, root.action.value]).toEqual([transaction?.from, transaction?.value]);
        expect(root.action.to ?? null).toEqual(transaction?.to);
        expect(root.error === undefined).toBe(receipts?.[index]?.status === '0x1');
        for (const trace of group) {
          const calls = group.filter(
            ({ traceAddress }) =>
              traceAddress.length === trace.traceAddress.length + 1 &&
              trace.traceAddress.every((step, at) => traceAddress[at] === step),
          );
          expect(trace.subtraces).toBe(calls.length);
        }
        expect(JSON.stringify(toCallFrame(group)).split('"gasUsed"').length - 1).toBe(group.length);
      });
    }
  });

  test('gas adds up over the receipts', () => {
    for (const { block, receipts = [] } of blocks) {
      let sum = 0;
      for (const { gasUsed, cumulativeGasUsed } of receipts) {
        sum += Number(gasUsed);
        expect(Number(cumulativeGasUsed)).toBe(sum);
      }
      expect(Number(block.gasUsed)).toBe(sum);
    }
  });

  test('are of the size and compressibility of mainnet blocks of 2023', () => {
    const kilobytes = (part: unknown): number => JSON.stringify(part).length / blocks.length / 1000;
    const ratio = (part: unknown): number => {
      const text = JSON.stringify(part);
      return text.length / deflateRawSync(text, { level: 4 }).length;
    };
    const expected = [
      { part: blocks.map(({ block }) => block), size: 409, ratio: 3 },
      { part: blocks.map(({ receipts }) => receipts), size: 462, ratio: 9.7 },
      { part: blocks.map(({ traces }) => traces), size: 1168, ratio: 5.2 },
    ];
    for (const one of expected) {
      expect(kilobytes(one.part) / one.size).toBeGreaterThan(0.6);
      expect(kilobytes(one.part) / one.size).toBeLessThan(1.5);
      expect(ratio(one.part) / one.ratio).toBeGreaterThan(0.6);
      expect(ratio(one.part) / one.ratio).toBeLessThan(1.5);
    }
  });
});

test('the same seed gives the same chain, another one another', () => {
  const options = { length: 2, txsPerBlock: 10 };
  expect(generateChain(options)).toEqual(generateChain(options));
  expect(generateChain({ ...options, seed: 2 })[0]?.block.hash).not.toBe(
    generateChain(options)[0]?.block.hash,
  );
});

test('blocks without transactions are possible', async () => {
  const [empty] = generateChain({ length: 1, txsPerBlock: 0 }) as [RecordedBlock];
  expect(empty).toMatchObject({ receipts: [], traces: [] });
  await expectProved({ block: empty.block, receipts: [], traces: [] });
});
