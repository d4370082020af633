import { ALL, type Json, type Recorded } from '@packhouse/recordings';
import { beforeAll, describe, expect, it } from 'vitest';
import { toRaw } from '../test/raw.js';
import { POLICY } from '../test/recorded.js';
import { thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';
import type { ProvedBlock } from './prove/proved-block.js';

let prover: Prover;
let ofMainnet: Prover;
let leaving: Prover;
beforeAll(async () => {
  prover = await createProver(POLICY);
  ofMainnet = await createProver({ ...POLICY, chainId: 1 });
  leaving = await createProver({ ...POLICY, derived: 'leave' });
});

const toText = ({ texts }: ProvedBlock) => texts.blockHead + texts.transactions + texts.blockTail;
const all = (proved: ProvedBlock) => [toText(proved), proved.texts.receipts, proved.texts.logs];

/** What older nodes leave out, by the record's list, each with what it is of type (undefined: every one). */
const LEFT_OUT: readonly [list: 'transactions' | 'receipts', field: string, ofTypes: readonly string[]][] = [
  ['receipts', 'from', ['0x0', '0x1', '0x2', '0x3', '0x4']],
  ['receipts', 'to', ['0x0', '0x1', '0x2', '0x3', '0x4']],
  ['receipts', 'type', ['0x0', '0x1', '0x2', '0x3', '0x4']],
  ['receipts', 'effectiveGasPrice', ['0x0', '0x1', '0x2', '0x3', '0x4']],
  ['receipts', 'blobGasUsed', ['0x3']],
  ['transactions', 'type', ['0x0']],
  ['transactions', 'yParity', ['0x1', '0x2', '0x3', '0x4']],
  ['transactions', 'v', ['0x1', '0x2', '0x3', '0x4']],
  ['transactions', 'chainId', ['0x1', '0x2', '0x3', '0x4']],
];

/** The answer with a field of its records gone, or null. */
function without(
  answer: Recorded,
  list: 'transactions' | 'receipts',
  field: string,
  types: readonly string[],
  to?: null,
) {
  const records: Json[] = list === 'receipts' ? answer.receipts! : answer.block.transactions;
  for (const [index, record] of records.entries()) {
    if (!types.includes(String(answer.block.transactions[index]!.type))) continue;
    if (to === null) record[field] = null;
    else delete record[field];
  }
  return answer;
}

const NUMBER = 22869878;
const FORKS = [47218, 4369999, 12972264, 14764013, 18500000, 19433903, NUMBER];

describe.each(ALL)('fields that follow from others in $title', (source) => {
  it.each(LEFT_OUT)('are written where a node leaves out %s.%s', (list, field, types) => {
    const whole = all(ofMainnet.proveBlock(source.block('forks', NUMBER)));
    const bare = without(source.block('forks', NUMBER), list, field, types);
    expect(JSON.stringify(bare)).not.toBe(JSON.stringify(source.block('forks', NUMBER)));
    expect(all(ofMainnet.proveBlock(bare))).toEqual(whole);
    // null says that a contract is created
    if (field === 'to') return;
    const nulls = without(source.block('forks', NUMBER), list, field, types, null);
    expect(all(ofMainnet.proveBlock(nulls))).toEqual(whole);
  });

  it.each(FORKS)('are the same whatever a node leaves out of block %i', (number) => {
    const whole = all(prover.proveBlock(source.block('forks', number)));
    let bare = source.block('forks', number);
    for (const [list, field, types] of LEFT_OUT) {
      if (field === 'v' || field === 'chainId') continue;
      bare = without(bare, list, field, types);
    }
    expect(all(prover.proveBlock(bare))).toEqual(whole);
  });

  it.each([47218, 12972264])('are there in receipts of nodes that never wrote them (%i)', (number) => {
    const { texts } = prover.proveBlock(source.block('forks', number));
    const { transactions } = source.block('forks', number).block;
    for (const [index, receipt] of (JSON.parse(texts.receipts!) as Json[]).entries()) {
      const { from, to, type = '0x0', gasPrice } = transactions[index]!;
      expect(receipt).toMatchObject({ from, to, type, effectiveGasPrice: gasPrice });
    }
  });

  it('are left as they are, and refused where they are wrong, to compare what was written before', () => {
    const bare = without(source.block('forks', NUMBER), 'receipts', 'type', ['0x2']);
    const receipts = JSON.parse(leaving.proveBlock(bare).texts.receipts!) as Json[];
    expect(receipts.some((receipt) => !('type' in receipt))).toBe(true);
    bare.block.size = '0x1';
    expect(thrown(() => leaving.proveBlock(bare))).toMatchObject({ data: { field: 'size' } });
  });

  it('do not make a lie right: a wrong one is refused', () => {
    const answer = without(source.block('forks', NUMBER), 'receipts', 'type', ['0x2']);
    answer.receipts![0]!.effectiveGasPrice = '0x1';
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      data: { field: 'receipts[0].effectiveGasPrice' },
    });
  });

  it('need the chain for its id: without it a transaction that names none is refused', async () => {
    const bare = without(source.block('forks', NUMBER), 'transactions', 'chainId', ['0x2']);
    expect(thrown(() => prover.proveBlock(bare))).toMatchObject({
      code: 'RECORD_INVALID',
      data: { field: 'chainId' },
    });
  });
});

describe.each(ALL)("a block's size in $title", (source) => {
  const block = () => source.block('forks', 18500000);

  it('that is wrong is put right and named', () => {
    const truth = toText(prover.proveBlock(block()));
    const answer = block();
    answer.block.size = '0x1234';
    const proved = prover.proveBlock(answer);
    expect(toText(proved)).toBe(truth);
    expect(proved.corrected).toEqual(['size']);
    expect(prover.proveBlock(block()).corrected).toEqual([]);
  });

  it('that is absent is written', () => {
    const answer = block();
    delete answer.block.size;
    const proved = prover.proveBlock(answer);
    expect(toText(proved)).toBe(toText(prover.proveBlock(block())));
    expect(proved.corrected).toEqual([]);
  });

  it('that is absent is asked for where it cannot be computed', () => {
    const answer = source.block('forks', 4662649);
    delete answer.block.size;
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      code: 'RECORD_INVALID',
      data: { field: 'size', got: 'nothing' },
    });
  });
});

describe.each(ALL)(
  'numbers of logs in $title that begin again in each receipt (dshackle#714, besu#6204)',
  (source) => {
    /** The block as a node says it that numbers the logs of each receipt from 0, from this one on. */
    const restarted = (number: number, from = 0) => {
      const answer = source.block('forks', number);
      for (const receipt of answer.receipts!.slice(from)) {
        for (const [at, log] of (receipt.logs as Json[]).entries()) log.logIndex = `0x${at.toString(16)}`;
      }
      return answer;
    };
    const counts = (number: number) =>
      source.block('forks', number).receipts!.map(({ logs }) => (logs as Json[]).length);

    it.each(FORKS)('are those of the block, and named: %d', (number) => {
      const truth = source.block('forks', number);
      const isOdd = counts(number).filter((logs) => logs > 0).length > 1;
      const proved = prover.proveBlock(restarted(number));
      expect(all(proved)).toEqual(all(prover.proveBlock(truth)));
      expect(proved.corrected).toEqual(isOdd ? ['logIndex'] : []);
      expect(proved.proofs).toEqual(prover.proveBlock(truth).proofs);
      // From its bytes nothing is put right.
      if (isOdd) expect(typeof ofMainnet.proveRaw(toRaw(restarted(number)))).toBe('string');
    });

    it('are refused where they follow no one way, where nothing is put right, and where no root says which there are', async () => {
      const second = counts(NUMBER).findIndex(
        (logs, at, list) => logs > 1 && list.slice(0, at).some((before) => before > 0),
      );
      const change = (to: string) => {
        const answer = restarted(NUMBER);
        (answer.receipts![second]!.logs as Json[])[1]!.logIndex = to;
        return thrown(() => prover.proveBlock(answer));
      };
      const refused = {
        code: 'PROOF_FAILED',
        data: { proof: 'consistency', field: `receipts[${second}].logs[1].logIndex` },
      };
      for (const to of ['0x0', '0x2', '0x7fff']) expect(change(to), to).toMatchObject(refused);
      expect(thrown(() => leaving.proveBlock(restarted(NUMBER)))).toMatchObject({ code: 'PROOF_FAILED' });
      const trusting = await createProver({ ...POLICY, receipts: 'trust' });
      expect(thrown(() => trusting.proveBlock(restarted(NUMBER)))).toMatchObject({ code: 'PROOF_FAILED' });
      const lacking = restarted(NUMBER);
      (lacking.receipts![second]!.logs as Json[]).pop();
      expect(thrown(() => prover.proveBlock(lacking))).toMatchObject({ code: 'PROOF_FAILED' });
    });
  },
);

describe.each(ALL)('withdrawals of $title', (source) => {
  it('that a node leaves out are named as missing', () => {
    const answer = source.block('forks', 18500000);
    expect(prover.proveBlock(answer).missing).toEqual([]);
    delete answer.block.withdrawals;
    expect(prover.proveBlock(answer)).toMatchObject({ missing: ['withdrawals'] });
    expect(prover.proveBlock(answer).proofs).not.toContain('withdrawalsRoot');
  });

  it('are not missing before there were any, nor on the OP stack, whose header has another root', () => {
    expect(prover.proveBlock(source.block('forks', 14764013)).missing).toEqual([]);
  });

  it('of which the root says that there are none are written as none', async () => {
    const trusting = await createProver({ ...POLICY, header: 'trust' });
    const answer = source.block('forks', 18500000);
    answer.block.withdrawalsRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
    delete answer.block.withdrawals;
    const proved = trusting.proveBlock(answer);
    expect(JSON.parse(toText(proved)).withdrawals).toEqual([]);
    expect(proved).toMatchObject({ missing: [], proofs: expect.arrayContaining(['withdrawalsRoot']) });
  });
});
