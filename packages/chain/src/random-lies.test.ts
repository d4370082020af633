import { ALL, type Json, type Recorded, type Recordings } from '@packhouse/recordings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getBlockOfOp, POLICY } from '../test/recorded.js';
import { flipped, leaves, type Path, thrown, valueAt } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';

/** Fields of the written texts that no proof covers in these blocks, with the reason in docs/proofs.md. */
const UNPROVED = [
  'totalDifficulty',
  'blobGasPrice',
  'withdrawals',
  'depositReceiptVersion',
  'blockTimestamp',
];
const OF_OP = [
  'blobGasUsed',
  'daFootprintGasScalar',
  'l1BaseFeeScalar',
  'l1BlobBaseFee',
  'l1BlobBaseFeeScalar',
  'l1Fee',
  'l1GasPrice',
  'l1GasUsed',
];
/** Of a deposit alone. */
const OF_DEPOSIT = ['gasPrice', 'v', 'r', 's', 'yParity', 'mint', 'isSystemTx', 'effectiveGasPrice', 'nonce'];

/** What is written of a block, without the fields that no proof covers and without those that no table names. */
function provable(
  prover: Prover,
  { block, receipts }: Recorded,
  known: ReadonlySet<string>,
  free: ReadonlySet<string>,
): unknown {
  const { texts } = prover.proveBlock({ block, receipts });
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip);
    if (typeof value !== 'object' || value === null) return value;
    const { type, status, to } = value as Json;
    const isDeposit = type === '0x7e';
    const isFree = (name: string) =>
      free.has(name) ||
      (isDeposit && OF_DEPOSIT.includes(name)) ||
      // Some nodes write null where a creation failed.
      (name === 'contractAddress' && status === '0x0' && to === null);
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => known.has(name) && !isFree(name))
        .map(([name, item]) => [name, strip(item)]),
    );
  };
  return strip([
    JSON.parse(texts.blockHead + texts.transactions + texts.blockTail),
    JSON.parse(texts.receipts!),
  ]);
}

/** Names of all fields in a value. */
function names(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(names)];
}

type Change = { path: Path; how: 'flip' | 'other' | 'drop' | 'null' | 'twice' | 'swap'; from: Path };

/** Makes a change; undone by what it returns. */
function apply(answer: Recorded, { path, how, from }: Change): () => void {
  const holder = valueAt(answer, path.slice(0, -1)) as Json | unknown[];
  if (typeof holder !== 'object' || holder === null) return () => undefined;
  const key = path.at(-1)!;
  const before = Array.isArray(holder) ? [...holder] : { ...holder };
  const fields = holder as Record<string | number, unknown>;
  const value = fields[key];
  if (how === 'drop') {
    if (Array.isArray(holder)) holder.splice(key as number, 1);
    else delete fields[key];
  } else if (how === 'twice' && Array.isArray(holder)) holder.splice(key as number, 0, value);
  else if (how === 'swap' && Array.isArray(holder)) holder.reverse();
  else if (how === 'null') fields[key] = null;
  else if (how === 'other') fields[key] = valueAt(answer, from);
  else fields[key] = typeof value === 'object' ? null : flipped(value);
  return () => {
    if (Array.isArray(holder)) holder.splice(0, holder.length, ...(before as unknown[]));
    else {
      for (const name of Object.keys(fields)) delete fields[name];
      Object.assign(fields, before);
    }
  };
}

/** Changes of a leaf, or of what holds it: a log, a receipt, a list. */
function changesOf(all: readonly Path[]): fc.Arbitrary<Change> {
  const ofValues = fc.constantFrom(...all);
  const places = fc
    .tuple(ofValues, fc.nat(2))
    .map(([path, up]) => path.slice(0, Math.max(2, path.length - up)));
  return fc.record({
    path: places,
    how: fc.constantFrom('flip', 'other', 'drop', 'null', 'twice', 'swap'),
    from: ofValues,
  });
}

async function expectTruth(answer: Recorded, chainId: number): Promise<void> {
  const prover = await createProver({ ...POLICY, chainId });
  const known = new Set(names([answer.block, answer.receipts]));
  const free = new Set([...UNPROVED, ...(chainId === 10 ? OF_OP : [])]);
  const truth = provable(prover, answer, known, free);
  const all = leaves({ block: answer.block, receipts: answer.receipts });
  const change = changesOf(all);
  let passed = 0;
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
      const undo: (() => void)[] = [];
      try {
        let written: unknown;
        const error = thrown(() => {
          for (const one of changes) undo.push(apply(answer, one));
          written = provable(prover, answer, known, free);
        });
        if (error !== undefined) return;
        passed++;
        expect(written).toEqual(truth);
      } finally {
        for (const back of undo.reverse()) back();
      }
    }),
    { numRuns: 600 },
  );
  expect(provable(prover, answer, known, free)).toEqual(truth);
  // some changes are none, or of what follows from the rest
  expect(passed).toBeGreaterThan(0);
}

/** What proofs cover of traces: where each stands, and what its root repeats of its transaction. */
function provableTraces(prover: Prover, answer: Recorded): unknown {
  const { block, receipts, traces } = answer;
  const proved = prover.proveBlock({ block, receipts });
  const written = JSON.parse(prover.proveTraces(proved, traces)) as Json[];
  // nothing says which rewards there are
  return written
    .filter(({ type }) => type !== 'reward')
    .map((trace) => {
      const { blockHash, blockNumber, subtraces, traceAddress, transactionHash, transactionPosition } = trace;
      const place = { blockHash, blockNumber, subtraces, traceAddress, transactionHash, transactionPosition };
      if ((traceAddress as unknown[]).length > 0) return place;
      const { from, to, value, input, init } = trace.action as Json;
      return { ...place, type: trace.type, failed: trace.error != null, from, to, value, input, init };
    });
}

async function expectPlaces(source: Recordings, number: number): Promise<void> {
  const prover = await createProver({ ...POLICY, chainId: 1 });
  const answer = source.block('forks', number);
  const truth = provableTraces(prover, answer);
  const change = changesOf(leaves({ traces: answer.traces }));
  let passed = 0;
  fc.assert(
    fc.property(change, (one) => {
      const undo = apply(answer, one);
      let written: unknown;
      const error = thrown(() => {
        written = provableTraces(prover, answer);
      });
      undo();
      if (error !== undefined) return;
      passed++;
      expect(written).toEqual(truth);
    }),
    { numRuns: 600 },
  );
  expect(provableTraces(prover, answer)).toEqual(truth);
  // what is inside a tree is not covered
  expect(passed).toBeGreaterThan(0);
}

describe.each(ALL)('whatever is changed in $title', (source) => {
  it('what is written of block 22431084 is the truth', () => expectTruth(source.block('forks', 22431084), 1));

  it('what is written of a block of OP is the truth', () => expectTruth(getBlockOfOp(source), 10));

  it.each([1000000, 15537393])('what is written of the traces of block %i stands where it did', (number) =>
    expectPlaces(source, number),
  );
});
