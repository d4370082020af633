import { createProver, type Proof, type Prover } from '@packhouse/chain';
import { ALL } from '@packhouse/recordings';
import { beforeAll, describe, expect, test } from 'vitest';
import { extendChain } from './extend-chain.js';
import { generateChain } from './generate-chain.js';
import { giantTraceBlock } from './giant-trace-block.js';
import type { RecordedBlock } from './recorded-block.js';
import { recordedChain } from './recorded-chain.js';
import type { ServedChain } from './served-chain.js';
import { servedValues } from './testing/oracle.js';

const EVERY: Proof[] = [
  'headerHash',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'withdrawalsRoot',
  'consistency',
  'senders',
  'sampledSenders',
];
/** A transaction whose signature was varied has another sender than it says. */
const OF_VARIED = EVERY.filter((proof) => !/senders/i.test(proof));
let prover: Prover;
let ofVaried: Prover;
beforeAll(async () => {
  const policy = {
    header: 'recompute',
    transactions: 'recompute',
    receipts: 'recompute',
    extraFields: 'keep',
  } as const;
  prover = await createProver({ ...policy, senders: 'all' });
  ofVaried = await createProver({ ...policy, senders: 'off' });
});

/** Proves blocks and what links them, as the pipeline does; returns the proofs that every block passed. */
function prove(chain: ServedChain, from: number, to: number, by = prover): Proof[] {
  let passed = EVERY;
  let parent: ReturnType<Prover['proveBlock']> | undefined;
  for (let number = from; number <= to; number++) {
    const served = chain.block(number);
    if (served === undefined) throw new Error(`no block ${number}`);
    const { block, receipts, traces } = servedValues(served);
    const proved = by.proveBlock({ block, receipts });
    by.proveTraces(proved, traces);
    if (parent !== undefined) {
      expect(proved).toMatchObject({ number: parent.number + 1, parentHash: parent.hash });
    }
    parent = proved;
    passed = passed.filter((proof) => proved.proofs.includes(proof));
  }
  return passed;
}

describe("the pipeline's prover passes", () => {
  test('generated blocks, of every size of answer', () => {
    expect(prove(recordedChain(generateChain({ length: 4 })), 1, 4)).toEqual(EVERY);
    expect(prove(recordedChain(generateChain({ length: 40, txsPerBlock: 2 })), 1, 40)).toEqual(EVERY);
    expect(prove(recordedChain(generateChain({ length: 2, txsPerBlock: 0 })), 1, 2)).toEqual(EVERY);
  });

  test('extended chains across a change of width, with transactions repeated and varied', () => {
    const blocks = generateChain({ length: 5, txsPerBlock: 20 });
    const [same, varied] = [false, true].map((varyTransactions) =>
      extendChain(blocks, { length: 30, startNumber: 65_530, varyTransactions }),
    ) as [ServedChain, ServedChain];
    expect(prove(same, 65_530, 65_559)).toEqual(EVERY);
    expect(prove(varied, 65_530, 65_559, ofVaried)).toEqual(OF_VARIED);
  });

  test('giant blocks', () => {
    const chain = giantTraceBlock({ megabytes: 2, startNumber: 9 });
    expect(prove(chain, 9, 9)).toEqual(EVERY);
  });

  test.each(ALL)('$title and what they are extended to', (source) => {
    const blocks = source.blocks<RecordedBlock>('row');
    const last = 17_686_121;
    // Some nodes leave withdrawals out.
    const hasWithdrawals = blocks.every(({ block }) => block.withdrawals !== undefined);
    for (const varyTransactions of [false, true]) {
      const chain = extendChain(blocks, { length: 18, varyTransactions });
      const passed = prove(chain, last - 11, last + 6, varyTransactions ? ofVaried : prover);
      const expected = varyTransactions ? OF_VARIED : EVERY;
      expect(passed).toEqual(expected.filter((proof) => hasWithdrawals || proof !== 'withdrawalsRoot'));
    }
    const early = source.blocks<RecordedBlock>('early');
    const tiny = extendChain(early, { length: early.length + 808 });
    expect(prove(tiny, tiny.lastNumber - 999, tiny.lastNumber)).toEqual(
      expect.arrayContaining(['headerHash', 'receiptsRoot']),
    );
  });
});
