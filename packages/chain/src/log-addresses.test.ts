import { ALL, type Json, type Recorded } from '@packhouse/recordings';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICY } from '../test/recorded.js';
import { thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';
import { type TracedBlock, traceProofs } from './prove/trace-prover.js';

let prover: Prover;
beforeAll(async () => {
  prover = await createProver(POLICY);
});

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const address = (digit: string) => `0x${digit.repeat(40)}`;

const block = (logAddresses: readonly string[], to: string | null = address('2')): TracedBlock => ({
  number: 9,
  hash: hash('b'),
  transactions: [{ hash: hash('0'), from: address('1'), to, value: '0x0', input: '0x', logAddresses }],
});

/** A trace of the transaction; `parts` are callType, from and to of its action. */
const trace = (
  traceAddress: number[],
  subtraces: number,
  parts: [string, string, string],
  more: Json = {},
) => ({
  action: {
    callType: parts[0],
    from: address(parts[1]),
    to: address(parts[2]),
    gas: '0x1',
    value: '0x0',
    input: '0x',
  },
  result: { gasUsed: '0x0', output: '0x' },
  blockHash: hash('b'),
  blockNumber: 9,
  subtraces,
  traceAddress,
  transactionHash: hash('0'),
  transactionPosition: 0,
  type: 'call',
  ...more,
});
const root = trace([], 1, ['call', '1', '2']);

describe('the address of a log', () => {
  it.each([
    ['that was the recipient', '2', [trace([], 0, ['call', '1', '2'])]],
    ['that was called', '3', [root, trace([0], 0, ['call', '2', '3'])]],
    [
      'that was called in a frame that was undone',
      '3',
      [root, trace([0], 0, ['call', '2', '3'], { error: 'Reverted' })],
    ],
    ['that runs the code of another', '2', [root, trace([0], 0, ['delegatecall', '2', '3'])]],
    ['that runs the code of another, the older way', '2', [root, trace([0], 0, ['callcode', '2', '3'])]],
  ])('%s passes', (_, logs, traces) => {
    expect(() => prover.proveTraces(block([address(logs)]), traces)).not.toThrow();
  });

  it('that was created passes', () => {
    const creation = {
      ...trace([], 0, ['call', '1', '2']),
      action: { from: address('1'), gas: '0x1', value: '0x0', init: '0x' },
      result: { gasUsed: '0x1', address: address('c'), code: '0x00' },
      type: 'create',
    };
    expect(() => prover.proveTraces(block([address('c')], null), [creation])).not.toThrow();
    expect(thrown(() => prover.proveTraces(block([address('d')], null), [creation]))).toMatchObject({
      data: { proof: 'logAddresses' },
    });
  });

  it.each([
    ['that nothing called', '4', [root, trace([0], 0, ['call', '2', '3'])]],
    ['whose code alone ran', '3', [root, trace([0], 0, ['delegatecall', '2', '3'])]],
    ['that only called', '1', [trace([], 0, ['call', '1', '2'])]],
  ])('%s is refused', (_, logs, traces) => {
    expect(thrown(() => prover.proveTraces(block([address('2'), address(logs)]), traces))).toMatchObject({
      code: 'PROOF_FAILED',
      message: `Block 9: ${address(logs)} logged in transaction 0, but nothing in its traces calls or creates it.`,
      data: { proof: 'logAddresses', field: 'action.to', expected: address(logs), kinds: ['traces'] },
    });
  });

  it('need not be called if it is that of the coin of Polygon', () => {
    const coin = '0x0000000000000000000000000000000000001010';
    expect(() => prover.proveTraces(block([coin]), [trace([], 0, ['call', '1', '2'])])).not.toThrow();
  });

  it('of one transaction is not called by the next', () => {
    const [one] = block([address('3')]).transactions;
    const two = { ...block([]), transactions: [one!, { ...one!, hash: hash('1'), logAddresses: [] }] };
    const next = { transactionHash: hash('1'), transactionPosition: 1 };
    const traces = [
      trace([], 0, ['call', '1', '2']),
      { ...root, ...next },
      { ...trace([0], 0, ['call', '2', '3']), ...next },
    ];
    expect(thrown(() => prover.proveTraces(two, traces))).toMatchObject({ data: { proof: 'logAddresses' } });
  });

  it('is a proof of traces only with receipts', () => {
    expect(traceProofs(block([]))).toEqual(['traces', 'logAddresses']);
    const [{ logAddresses: _, ...without }] = block([]).transactions as [TracedBlock['transactions'][0]];
    expect(traceProofs({ ...block([]), transactions: [without] })).toEqual(['traces']);
  });
});

/** The traces of a block of which each tree is cut down to its root, with no count left wrong. */
const cut = ({ traces }: Recorded) =>
  traces!
    .filter(({ traceAddress }) => (traceAddress as []).length === 0)
    .map((one) => ({ ...one, subtraces: 0 }));

describe.each(ALL)('the addresses of logs in $title', (source) => {
  it('were all called', () => {
    const blocks = [...source.blocks('row'), ...source.blocks('forks')];
    for (const answer of blocks.filter(({ traces, receipts }) => traces && receipts)) {
      const proved = prover.proveBlock(answer);
      expect(() => prover.proveTraces(proved, answer.traces)).not.toThrow();
    }
  });

  it('were not, if a node keeps the calls inside to itself', () => {
    const answer = source.block('row', 17686110);
    const proved = prover.proveBlock(answer);
    expect(thrown(() => prover.proveTraces(proved, cut(answer)))).toMatchObject({
      data: { proof: 'logAddresses' },
    });
    const alone = prover.proveBlock({ block: answer.block });
    expect(traceProofs(alone)).toEqual(['traces']);
    expect(() => prover.proveTraces(alone, cut(answer))).not.toThrow();
  });
});
