import { ALL, CLONE, GIVEN, type Json, type Recorded } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { POLICIES } from '../test/policies.js';
import { toRaw } from '../test/raw.js';
import { otherBlocks, POLICY } from '../test/recorded.js';
import { flipped, thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';
import type { BlockSummary, ProofPolicy } from './prove/proved-block.js';
import { KINDS } from './record/kinds.js';
import { concerns, UNCHECKED, type Unchecked } from './record/unchecked.js';

/** Fields that say what gas or room costs, or how much was used, and what names those that nothing proves. */
const FIELDS: readonly [of: 'block' | 'transaction' | 'receipt', field: string, ...named: Unchecked[]][] = [
  ['block', 'size', 'size'],
  ['block', 'gasUsed'],
  ['block', 'gasLimit'],
  ['block', 'baseFeePerGas'],
  ['block', 'blobGasUsed'],
  ['block', 'excessBlobGas'],
  ['transaction', 'gas', 'typePrices'],
  ['transaction', 'gasPrice', 'prices', 'typePrices'],
  ['transaction', 'maxFeePerGas', 'typePrices'],
  ['transaction', 'maxPriorityFeePerGas', 'typePrices'],
  ['transaction', 'maxFeePerBlobGas'],
  ['receipt', 'effectiveGasPrice', 'prices', 'basePrices', 'typePrices'],
  ['receipt', 'gasUsed', 'sums', 'depositGas'],
  ['receipt', 'cumulativeGasUsed'],
  ['receipt', 'blobGasUsed', 'fees'],
  ['receipt', 'blobGasPrice', 'blobPrice'],
  ['receipt', 'l1Fee', 'fees'],
  ['receipt', 'l1GasPrice', 'fees'],
  ['receipt', 'l1GasUsed', 'fees'],
  ['receipt', 'gasUsedForL1', 'fees'],
];

/** Proofs whose absence says that anything may be false. */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  block: ['headerHash'],
  transaction: ['transactionsRoot', 'consistency'],
  receipt: ['receiptsRoot', 'consistency'],
};

const toText = (prover: Prover, { block, receipts }: Recorded): [BlockSummary, string] => {
  const proved = prover.proveBlock(receipts === undefined ? { block } : { block, receipts });
  const { blockHead, transactions, blockTail, receipts: ofReceipts = '' } = proved.texts;
  return [proved, blockHead + transactions + blockTail + ofReceipts];
};

const scannedText = (prover: Prover, answer: Recorded): string | undefined => {
  const scanned = prover.proveRaw(toRaw(answer));
  if (typeof scanned === 'string') return undefined;
  const { blockHead, transactions, blockTail, receipts = '' } = scanned.texts;
  return blockHead + transactions.toString('latin1') + blockTail + receipts.toString('latin1');
};

function isNamed(
  of: string,
  named: readonly Unchecked[],
  { notProved, missing, proofs }: BlockSummary,
): boolean {
  if (named.includes('size') && missing.includes('withdrawals')) return true;
  return notProved.some(
    ({ proof, because }) =>
      named.some((name) => UNCHECKED[name].because === because) ||
      (WHOLE[of]!.includes(proof) && !proofs.includes(proof)),
  );
}

/** Tells each lie about the first record of each type that has the field; returns how many were refused. */
function tellAll(prover: Prover, answer: Recorded, name: string): number {
  const { block, receipts = [] } = answer;
  const [summary, truth] = toText(prover, answer);
  const types = new Map(block.transactions.map(({ type }, at) => [type, at]));
  let refused = 0;
  for (const [of, field, ...named] of FIELDS) {
    const records =
      of === 'block'
        ? [block]
        : [...types.values()].flatMap((at) => (of === 'receipt' ? receipts : block.transactions)[at] ?? []);
    for (const record of records as Json[]) {
      const before = record[field];
      if (typeof before !== 'string') continue;
      for (const value of ['0x1', flipped(before), `${before}0`]) {
        record[field] = value;
        const error = thrown(() => {
          const [, text] = toText(prover, answer);
          if (text !== truth)
            expect(isNamed(of, named, summary), `${name}: ${of}.${field} ${value}`).toBe(true);
        });
        const scanned = scannedText(prover, answer);
        record[field] = before;
        if (error instanceof Error && error.name === 'AssertionError') throw error;
        if (error === undefined) continue;
        refused++;
        expect(scanned, `${name}: ${of}.${field} ${value}, scanned`).toBeUndefined();
      }
    }
  }
  return refused;
}

/** Few of the many small blocks, all others. */
const some = (blocks: readonly Recorded[]) =>
  blocks.filter((_, at) => at % Math.ceil(blocks.length / 12) === 0);

const OF_CLONE = [
  ['forks', 1],
  ['row', 1],
  ['optimism', 10],
  ['sepolia', 11_155_111],
] as const;

describe.each(ALL)('prices, sizes and gas in $title', (source) => {
  it.each(OF_CLONE.filter(([name]) => source.has(name)))(
    'of %s are proved, or named where they are not',
    async (name, chainId) => {
      for (const answer of some(source.blocks(name))) {
        // Of Optimism Goerli.
        const chain = answer.number === 985465 ? 420 : chainId;
        const rules = name === 'optimism' ? { rules: 'optimism' } : {};
        const prover = await createProver({ ...POLICY, chainId: chain, ...rules });
        expect(tellAll(prover, answer, `${name} ${answer.number}`)).toBeGreaterThan(4);
      }
    },
  );
});

describe.skipIf(GIVEN === null)('prices, sizes and gas on other networks (needs RECORDINGS)', () => {
  it('are proved, or named where they are not', async () => {
    for (const [name, { net, ...answer }] of otherBlocks()) {
      const policy: Partial<ProofPolicy> = POLICIES[name] ?? POLICIES[net]!;
      tellAll(await createProver({ ...POLICY, ...policy }), answer, name);
    }
  });

  const polygon = () => otherBlocks().get('polygon 50000000')!;

  it.each(['0x0', '0x2'])(
    'of Polygon follow from fees and base fee in a receipt of type %s',
    async (type) => {
      const prover = await createProver({ ...POLICY, chainId: 137 });
      const { block, receipts } = polygon();
      const at = block.transactions.findIndex((tx) => tx.type === type);
      const paid = receipts![at]!.effectiveGasPrice;
      expect(prover.proveBlock({ block, receipts }).notProved).toEqual([]);
      for (const lie of ['0x1', `${paid}0`]) {
        receipts![at]!.effectiveGasPrice = lie;
        expect(thrown(() => prover.proveBlock({ block, receipts }))).toMatchObject({
          code: 'PROOF_FAILED',
          data: { field: `receipts[${at}].effectiveGasPrice`, got: lie, expected: paid },
        });
      }
      receipts![at]!.effectiveGasPrice = paid;
      block.size = '0x1';
      expect(prover.proveBlock({ block, receipts }).corrected).toEqual(['size']);
    },
  );
});

describe('a price that no rule gives', () => {
  it('is at most what the transaction offers', async () => {
    const prover = await createProver({ ...POLICY, rules: 'bnb' });
    const { block, receipts } = CLONE.block('forks', 22869878);
    const at = block.transactions.findIndex(({ type }) => type === '0x2');
    const { maxFeePerGas } = block.transactions[at]!;
    expect(prover.proveBlock({ block, receipts }).notProved).toContainEqual({
      proof: 'consistency',
      because: UNCHECKED.prices.because,
    });
    const most = { expected: `at most ${maxFeePerGas}`, got: `${maxFeePerGas}0` };
    for (const [record, field, path] of [
      [receipts![at]!, 'effectiveGasPrice', 'receipts'],
      [block.transactions[at]!, 'gasPrice', 'transactions'],
    ] as const) {
      const before = record[field];
      record[field] = most.got;
      expect(thrown(() => prover.proveBlock({ block, receipts }))).toMatchObject({
        code: 'PROOF_FAILED',
        data: { ...most, field: `${path}[${at}].${field}` },
      });
      record[field] = before;
    }
  });
});

it('what is left open concerns the kinds that have the field', () => {
  const of = (because: string) => KINDS.filter((kind) => concerns(kind, because));
  expect(of(UNCHECKED.size.because)).toEqual(['blocks']);
  expect(of(UNCHECKED.prices.because)).toEqual(['blocks', 'transactions', 'receipts']);
  expect(of('the root of a chain is not known')).toEqual(KINDS);
});
