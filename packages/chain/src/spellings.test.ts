import { ALL, GIVEN, type Json, type Recorded } from '@packhouse/recordings';
import { describe, expect, it } from 'vitest';
import { POLICIES } from '../test/policies.js';
import { toRaw } from '../test/raw.js';
import { otherBlocks, POLICY } from '../test/recorded.js';
import { thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';
import { UNCHECKED } from './record/unchecked.js';

const ZEROS = `0x${'0'.repeat(40)}`;
const [HASH, TX] = ['1', '2'].map((digit) => `0x${digit.repeat(64)}`) as [string, string];
const [SENDER, PROXY, CODE, HEIR] = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`) as [
  string,
  string,
  string,
  string,
];

/** The receipts and logs that are written, and what they are by the scanner, if it does not decline. */
function toTexts(prover: Prover, answer: Recorded) {
  const { block, receipts, traces } = answer;
  const { texts, notProved } = prover.proveBlock({ block, receipts });
  const scanned = prover.proveRaw(toRaw({ ...answer, traces } as Recorded));
  const raw = typeof scanned === 'string' ? scanned : scanned.texts.receipts?.toString('latin1');
  return { receipts: texts.receipts, raw, notProved };
}

const logsOf = ({ receipts }: Recorded): Json[] => receipts!.flatMap(({ logs }) => logs as Json[]);

describe.each(ALL)('records of $title', (source) => {
  const get = () => source.block('forks', 12972264);

  it('have logs that stand where a node omits that they are not removed', async () => {
    const prover = await createProver({ ...POLICY, chainId: 1 });
    const truth = toTexts(prover, get());
    const answer = get();
    for (const log of logsOf(answer)) delete log.removed;
    expect(truth.raw).toBe(truth.receipts);
    expect(toTexts(prover, answer)).toEqual(truth);
  });

  it('have logs that are numbered through their transaction, where a node says so', async () => {
    const prover = await createProver({ ...POLICY, chainId: 1 });
    const answer = get();
    for (const { logs } of answer.receipts!)
      for (const [at, log] of (logs as Json[]).entries()) log.transactionLogIndex = `0x${at.toString(16)}`;
    const { receipts, raw } = toTexts(prover, answer);
    expect(receipts).toContain('"transactionLogIndex":"0x1"');
    expect(raw).toBe(receipts);
    const at = answer.receipts!.findIndex(({ logs }) => logs.length > 1);
    (answer.receipts![at]!.logs[1] as Json).transactionLogIndex = '0x0';
    expect(prover.proveRaw(toRaw(answer))).toBe('receipts');
    expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
      code: 'PROOF_FAILED',
      data: { field: `receipts[${at}].logs[1].transactionLogIndex`, got: '0x0', expected: '0x1' },
    });
  });

  it('with a status beside a root are named, whatever it is', async () => {
    const prover = await createProver({ ...POLICY, chainId: 1 });
    const answer = source.block('forks', 47218);
    expect(toTexts(prover, answer).notProved).toEqual([]);
    answer.receipts![0]!.status = '0x0';
    const { notProved, raw } = toTexts(prover, answer);
    expect(raw).toBe('receipts');
    expect(notProved).toEqual([{ proof: 'consistency', because: UNCHECKED.status.because }]);
  });

  it('have self-destructions of who executes, and of nobody else', async () => {
    const prover = await createProver({ ...POLICY, chainId: 1 });
    const answer = source.block('forks', 12900060);
    const at = answer.traces!.findIndex(({ type }) => type === 'suicide');
    if (at === -1) return expect(source).toBe(GIVEN);
    expect(prover.proveRaw(toRaw(answer))).toBeTypeOf('object');
    const { action } = answer.traces![at]!;
    const expected = action.address;
    action.address = ZEROS;
    expect(prover.proveRaw(toRaw(answer))).toBe('traces');
    expect(thrown(() => prover.proveTraces(prover.proveBlock(answer), answer.traces))).toMatchObject({
      code: 'PROOF_FAILED',
      message: expect.stringContaining(`trace ${at}, of transaction`),
      data: { field: 'action.address', got: ZEROS, expected },
    });
  });
});

describe('a self-destruction', () => {
  const owner = { blockHash: HASH, blockNumber: 1, transactionHash: TX, transactionPosition: 0 };
  const call = (callType: string, from: string, to: string, traceAddress: number[]) => ({
    action: { callType, from, to, gas: '0x1', input: '0x', value: '0x0' },
    result: { gasUsed: '0x1', output: '0x' },
    ...owner,
    subtraces: 1,
    traceAddress,
    type: 'call',
  });
  const end = (action: Json) => ({
    action,
    result: null,
    ...owner,
    subtraces: 0,
    traceAddress: [0, 0],
    type: 'suicide',
  });
  const block = {
    number: 1,
    hash: HASH,
    transactions: [{ hash: TX, from: SENDER, to: PROXY, value: '0x0', input: '0x' }],
  };
  const traces = (action: Json) => [
    call('call', SENDER, PROXY, []),
    call('delegatecall', PROXY, CODE, [0]),
    end(action),
  ];

  it('in borrowed code is of the borrower', async () => {
    const prover = await createProver(POLICY);
    const truth = { address: PROXY, balance: '0x0', refundAddress: HEIR };
    expect(JSON.parse(prover.proveTraces(block, traces(truth)))).toHaveLength(3);
    for (const address of [CODE, ZEROS]) {
      expect(thrown(() => prover.proveTraces(block, traces({ ...truth, address })))).toMatchObject({
        code: 'PROOF_FAILED',
        data: { proof: 'traces', field: 'action.address', got: address, expected: PROXY },
      });
    }
  });

  it('without an heir is refused with its place', async () => {
    const prover = await createProver(POLICY);
    expect(thrown(() => prover.proveTraces(block, traces({ address: ZEROS, balance: '0x0' })))).toMatchObject(
      {
        code: 'RECORD_INVALID',
        data: { record: 'trace 2', field: 'action.refundAddress' },
      },
    );
  });
});

describe.skipIf(GIVEN === null)(
  'blocks of chains and nodes with spellings of their own (needs RECORDINGS)',
  () => {
    it.each([
      ['fantom 2', ['headerHash', 'consistency', 'consistency']],
      ['parity-aura-99 954592', []],
      ['mainnet 483920', []],
      ['bnb-chapel 55475597', ['consistency']],
    ])('%s is proved, but for what is named', async (name, missing) => {
      const { net, ...answer } = otherBlocks().get(name)!;
      const prover = await createProver({ ...POLICY, ...POLICIES[net], senders: 'all' });
      const { notProved, proofs } = prover.proveBlock(answer);
      expect(notProved.map(({ proof }) => proof)).toEqual(missing);
      expect(proofs).toEqual(expect.arrayContaining(['transactionsRoot', 'consistency', 'senders']));
    });

    it.each([
      ['scroll-5343513301 35', 5_343_513_301, 'scroll'],
      ['parity-aura-99 954592', 99, 'gnosis'],
    ])('%s names its line of the networks file', async (name, chainId, rules) => {
      const { net: _, ...answer } = otherBlocks().get(name)!;
      const prover = await createProver({ ...POLICY, chainId });
      expect(thrown(() => prover.proveBlock(answer))).toMatchObject({
        hint: expect.stringContaining(`proofs: { rules: ${rules} } proves headerHash, transactionsRoot`),
      });
    });
  },
);
