import { createKeccak256, createProver, type Keccak, type Prover } from '@packhouse/chain';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeCase, type RawAnswer, toRaw } from './cases.js';
import type { Answer, Json } from './encode.js';
import { createFuzz, describeFailure, type Failure, type MakeScan } from './fuzz.js';
import { prove, type Scanned } from './judge.js';
import { ERAS } from './make-block.js';
import { madeSamples, type Sample } from './samples.js';

const SEED = 1;
const POLICY = {
  header: 'recompute',
  transactions: 'recompute',
  receipts: 'recompute',
  senders: 'all',
  extraFields: 'keep',
} as const;

let keccak: Keccak;
let samples: readonly Sample[];
beforeAll(async () => {
  keccak = await createKeccak256();
  samples = madeSamples(SEED, keccak);
});

describe('the blocks that are made', () => {
  it.each(ERAS.map(({ name, chainId }) => [name, chainId] as const))(
    'of %s pass every proof, signatures and traces too',
    async (name, chainId) => {
      const ofEra = samples.filter((sample) => sample.name === name);
      const signed = await createProver({ ...POLICY, chainId });
      const unsigned = await createProver({ ...POLICY, chainId, senders: 'off' });
      for (const sample of ofEra) {
        const { block } = prove(sample.signed ? signed : unsigned, toRaw(sample));
        expect(block).toMatchObject({ missing: [], corrected: [], unknownFields: [] });
        const named = block.notProved.map(({ proof }) => proof);
        expect([...block.proofs, ...named]).toEqual(
          expect.arrayContaining([
            'headerHash',
            'transactionsRoot',
            'receiptsRoot',
            'logsBloom',
            'consistency',
          ]),
        );
      }
      expect(ofEra.length).toBeGreaterThan(10);
    },
  );
});

/** A scanner that can do all that the prover can, after it has put right what it does not look at. */
const blindTo =
  (ignore: (answer: Answer) => void): MakeScan =>
  (prover) =>
  (raw) =>
    attempt(() => prove(prover, seenBy(raw, ignore)));

function attempt(work: () => Scanned): Scanned {
  try {
    return work();
  } catch {
    return { declined: 'form' };
  }
}

function seenBy(raw: RawAnswer, ignore: (answer: Answer) => void): RawAnswer {
  const parsed = (part: Buffer | undefined) => JSON.parse(part?.toString('utf8') ?? '[]');
  const answer = { block: parsed(raw.block), receipts: parsed(raw.receipts), traces: parsed(raw.traces) };
  ignore(answer);
  const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
  return {
    block: bytes(answer.block),
    ...(raw.receipts === undefined ? {} : { receipts: bytes(answer.receipts) }),
    ...(raw.traces === undefined ? {} : { traces: bytes(answer.traces) }),
  };
}

/** Tries so many cases at most; returns the first failure. */
async function firstFailure(makeScan: MakeScan, cases = 20_000): Promise<Failure | undefined> {
  const fuzz = await createFuzz({ seed: SEED, makeScan, samples });
  for (let index = 0; index < cases; index++) {
    const failure = await fuzz.attempt(index);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

const ofLogs = (change: (log: Json, index: number, block: Json) => void) => (answer: Answer) => {
  let index = 0;
  for (const { logs } of answer.receipts) for (const log of logs) change(log, index++, answer.block);
};

const FAULTS: readonly (readonly [what: string, fault: MakeScan])[] = [
  ['whether a log was removed', blindTo(ofLogs((log) => Object.assign(log, { removed: false })))],
  [
    'how logs are numbered',
    blindTo(ofLogs((log, index) => Object.assign(log, { logIndex: `0x${index.toString(16)}` }))),
  ],
  ['the block of a log', blindTo(ofLogs((log, _, { hash }) => Object.assign(log, { blockHash: hash })))],
  [
    'the price in a receipt',
    blindTo(({ block, receipts }) => {
      for (const [index, receipt] of receipts.entries())
        receipt.effectiveGasPrice = block.transactions[index]!.gasPrice ?? receipt.effectiveGasPrice;
    }),
  ],
  [
    'the value of a call',
    blindTo(({ block, traces }) => {
      for (const { action, traceAddress, transactionPosition } of traces) {
        const tx = block.transactions[Number(transactionPosition)];
        if (tx !== undefined && (traceAddress as unknown[]).length === 0) action.value = tx.value;
      }
    }),
  ],
  [
    'what follows the end',
    (prover) => (raw) =>
      attempt(() => {
        const whole = (part: Buffer) => part.subarray(0, part.lastIndexOf(part[0] === 0x7b ? '}' : ']') + 1);
        const { block, receipts, traces } = raw;
        return prove(prover, {
          block: whole(block),
          ...(receipts === undefined ? {} : { receipts: whole(receipts) }),
          ...(traces === undefined ? {} : { traces: whole(traces) }),
        });
      }),
  ],
  [
    'the case of letters',
    (prover) => (raw) =>
      attempt(() => {
        const found = prove(prover, raw);
        const as = raw.block.toString('latin1').match(/0x[0-9a-f]*[A-F][0-9a-fA-F]*/)?.[0];
        if (as === undefined) return found;
        const blockTail = found.texts.blockTail.toString('latin1').replace(as.toLowerCase(), as);
        return { ...found, texts: { ...found.texts, blockTail: Buffer.from(blockTail, 'latin1') } };
      }),
  ],
];

describe('the fuzz', () => {
  it.each(FAULTS)('finds a scanner that does not look at %s', async (_, fault) => {
    const failure = await firstFailure(fault);
    expect(failure).toMatchObject({ seed: SEED, alone: true });
    expect(describeFailure(failure!)).toContain(`npm run fuzz -- --seed ${SEED} --case ${failure!.index}`);
  });

  it('says that a case needs those before it, if the scanner remembers what it should not', async () => {
    const makeScan: MakeScan = (prover: Prover) => {
      let refused = 0;
      return (raw) =>
        attempt(() => {
          refused++;
          const found = prove(prover, raw);
          refused--;
          return refused < 3 ? found : { ...found, block: { ...found.block, number: -1 } };
        });
    };
    const failure = await firstFailure(makeScan);
    expect(failure).toMatchObject({ alone: false, disagreement: expect.stringContaining('number is -1') });
    expect(describeFailure(failure!)).toContain(`--cases ${failure!.index + 1}`);
  });

  it('finds a scanner that throws', async () => {
    const failure = await firstFailure(() => () => {
      throw new RangeError('out of bounds');
    });
    expect(failure?.disagreement).toBe('the scanner threw RangeError: out of bounds');
  });

  it('agrees with a scanner that is right, of which both accept all that is unchanged', async () => {
    const makeScan: MakeScan = (prover) => (raw) => attempt(() => prove(prover, raw));
    const fuzz = await createFuzz({ seed: 2, makeScan, samples, asks: true });
    for (let index = 0; index < 1_500; index++) expect(await fuzz.attempt(index)).toBeUndefined();
    const { unchanged, form, lie, bytes, mixed } = fuzz.counts;
    expect(unchanged).toMatchObject({ declined: 0, refused: 0 });
    for (const { accepted, refused } of [form, lie, bytes, mixed])
      expect(Math.min(accepted, refused)).toBeGreaterThan(3);
  });

  it('makes the same case of the same seed and number, whatever was made before', () => {
    const late = makeCase(SEED, 777, samples, keccak);
    for (let index = 0; index < 50; index++) makeCase(SEED, index, samples, keccak);
    expect(makeCase(SEED, 777, madeSamples(SEED, keccak), keccak)).toEqual(late);
  });
});
