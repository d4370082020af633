import { ALL, type Json } from '@packhouse/recordings';
import type { PackhouseError } from '@packhouse/runtime';
import { beforeAll, describe, expect, it } from 'vitest';
import { POLICY } from '../test/recorded.js';
import { thrown } from '../test/tamper.js';
import { createProver, type Prover } from './create-prover.js';
import type { TracedBlock } from './prove/trace-prover.js';

let prover: Prover;
beforeAll(async () => {
  prover = await createProver(POLICY);
});

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const address = (digit: string) => `0x${digit.repeat(40)}`;
const at = { blockHash: hash('b'), blockNumber: 9 };

/** A block of two calls and a creation, and traces that fit it. */
function small(): { block: TracedBlock; traces: Json[] } {
  const block: TracedBlock = {
    number: 9,
    hash: hash('b'),
    transactions: [
      { hash: hash('0'), from: address('1'), to: address('2'), value: '0x5', input: '0xaa', success: true },
      { hash: hash('1'), from: address('1'), to: address('3'), value: '0x0', input: '0x', success: false },
      {
        hash: hash('2'),
        from: address('1'),
        to: null,
        value: '0x0',
        input: '0x60',
        success: true,
        contractAddress: address('c'),
      },
    ],
  };
  const call = (
    position: number,
    traceAddress: number[],
    subtraces: number,
    action: Json,
    more: Json = {},
  ) => ({
    action: { callType: 'call', gas: '0x1', value: '0x0', input: '0x', ...action },
    result: { gasUsed: '0x0', output: '0x' },
    ...at,
    subtraces,
    traceAddress,
    transactionHash: hash(String(position)),
    transactionPosition: position,
    type: 'call',
    ...more,
  });
  const root = { from: address('1'), to: address('2'), value: '0x5', input: '0xaa' };
  const inner = { from: address('2'), to: address('4') };
  const failed = call(1, [], 0, { from: address('1'), to: address('3') }, { error: 'Reverted' });
  return {
    block,
    traces: [
      call(0, [], 2, root),
      call(0, [0], 1, inner),
      call(0, [0, 0], 0, inner),
      call(0, [1], 0, inner),
      failed,
      {
        action: { from: address('1'), gas: '0x1', value: '0x0', init: '0x60' },
        result: { gasUsed: '0x1', address: address('c'), code: '0x00' },
        ...at,
        subtraces: 1,
        traceAddress: [],
        transactionHash: hash('2'),
        transactionPosition: 2,
        type: 'create',
      },
      {
        action: { address: address('c'), balance: '0x0', refundAddress: address('1') },
        result: null,
        ...at,
        subtraces: 0,
        traceAddress: [0],
        transactionHash: hash('2'),
        transactionPosition: 2,
        type: 'suicide',
      },
      {
        action: { author: address('e'), rewardType: 'block', value: '0x1' },
        result: null,
        ...at,
        subtraces: 0,
        traceAddress: [],
        transactionHash: null,
        transactionPosition: null,
        type: 'reward',
      },
    ],
  };
}

function failure(change: (traces: Json[], block: TracedBlock) => void): PackhouseError {
  const { block, traces } = small();
  change(traces, block);
  return thrown(() => prover.proveTraces(block, traces)) as PackhouseError;
}

const action = (trace: Json | undefined) => trace!.action as Json;

describe('traces', () => {
  it('that fit their block are written in the order of the format', () => {
    const { block, traces } = small();
    const text = prover.proveTraces(block, traces);
    expect(JSON.parse(text)).toEqual(traces);
    expect(text.slice(0, 120)).toBe(
      `[{"action":{"callType":"call","from":"${address('1')}","to":"${address('2')}"`.slice(0, 120),
    );
    expect(text).toContain(
      `{"action":{"from":"${address('1')}","gas":"0x1","value":"0x0","init":"0x60"},"result":{"gasUsed":"0x1","address":"${address('c')}","code":"0x00"},"blockHash":"${hash('b')}","blockNumber":9,"subtraces":1,"traceAddress":[],"transactionHash":"${hash('2')}","transactionPosition":2,"type":"create"}`,
    );
  });

  it('of a block without transactions may be none', () => {
    expect(prover.proveTraces({ number: 1, hash: hash('b'), transactions: [] }, [])).toBe('[]');
  });

  it('are the same one by one', () => {
    const { block, traces } = small();
    const one = prover.traceProver(block);
    const texts = traces.map((trace) => one.push(trace));
    one.finish();
    expect(`[${texts.join(',')}]`).toBe(prover.proveTraces(block, traces));
  });

  it('of two blocks can be proved at once', () => {
    const { block, traces } = small();
    const other = { ...block, number: 10 };
    const [a, b] = [prover.traceProver(block), prover.traceProver(other)];
    for (const trace of traces) {
      const text = a.push(trace);
      expect(b.push({ ...trace, blockNumber: 10 })).toBe(text.replace('"blockNumber":9', '"blockNumber":10'));
    }
    a.finish();
    b.finish();
  });

  it('of a reverted call may have no result, a null, or what was used and returned', () => {
    for (const result of [
      undefined,
      null,
      { gasUsed: '0x1', output: '0x08c379a0' },
      { gasUsed: '0x1' },
      {},
    ]) {
      const { block, traces } = small();
      const { result: _, ...failed } = traces[4]!;
      traces[4] = result === undefined ? failed : { ...failed, result };
      expect(JSON.parse(prover.proveTraces(block, traces))[4]).toEqual(traces[4]);
    }
  });

  it('name selfdestruct as suicide', () => {
    const { block, traces } = small();
    const expected = prover.proveTraces(block, traces);
    traces[6]!.type = 'selfdestruct';
    expect(prover.proveTraces(block, traces)).toBe(expected);
  });

  it.each<[string, (traces: Json[], block: TracedBlock) => void, string, RegExp]>([
    [
      'a foreign block hash',
      (traces) => Object.assign(traces[1]!, { blockHash: hash('d') }),
      'blockHash',
      new RegExp(`^Block 9: trace 1 is foreign: it is of block 9 \\(${hash('d')}\\), not of this one`),
    ],
    [
      'a foreign block number',
      (traces) => Object.assign(traces[0]!, { blockNumber: 10 }),
      'blockHash',
      /trace 0 is foreign: it is of block 10/,
    ],
    [
      'another sender at the root',
      (traces) => Object.assign(action(traces[0]), { from: address('7') }),
      'traces[0].action.from',
      /traces\[0\]\.action\.from is 0x7+, expected 0x1+: .* transaction 0,/,
    ],
    [
      'another recipient at the root',
      (traces) => Object.assign(action(traces[0]), { to: address('7') }),
      'action.to',
      /transaction 0/,
    ],
    [
      'another value at the root',
      (traces) => Object.assign(action(traces[0]), { value: '0x6' }),
      'action.value',
      /has action\.value 0x6, the transaction 0x5/,
    ],
    [
      'another input at the root',
      (traces) => Object.assign(action(traces[0]), { input: '0xab' }),
      'action.input',
      /transaction 0/,
    ],
    [
      'another code at the root of a creation',
      (traces) => Object.assign(action(traces[5]), { init: '0x61' }),
      'action.init',
      /transaction 2/,
    ],
    [
      'an error where the receipt says success',
      (traces) => Object.assign(traces[0]!, { error: 'Reverted' }),
      'error',
      /has error an error, the transaction none/,
    ],
    [
      'no error where the receipt says failure',
      (traces) => delete traces[4]!.error,
      'error',
      /has error none, the transaction an error/,
    ],
    [
      'another contract than the receipt',
      (traces) => Object.assign(traces[5]!.result as Json, { address: address('d') }),
      'result.address',
      /transaction 2/,
    ],
    [
      'a call where the transaction creates',
      (_, block) => Object.assign(block.transactions[0]!, { to: null }),
      'type',
      /has type call, the transaction create/,
    ],
    [
      'another transaction hash at the root',
      (traces) => Object.assign(traces[4]!, { transactionHash: hash('9') }),
      'transactionHash',
      /trace 4/,
    ],
    [
      'another transaction hash inside a tree',
      (traces) => Object.assign(traces[2]!, { transactionHash: hash('9') }),
      'transactionHash',
      /trace 2/,
    ],
    [
      'a trace dropped in the middle of a tree',
      (traces) => traces.splice(1, 1),
      'traceAddress',
      /trace 1, of transaction 0, stands at \[0,0\], expected \[0\]/,
    ],
    [
      'the last trace of a tree dropped',
      (traces) => traces.splice(3, 1),
      'subtraces',
      /in the traces of transaction 0, the trace at \[\] says it has 2 subtraces, but 1 follow/,
    ],
    [
      'a trace too many',
      (traces) => traces.splice(4, 0, { ...traces[3]!, traceAddress: [2] }),
      'traceAddress',
      /trace 4, of transaction 0, stands at \[2\], expected the next transaction/,
    ],
    [
      'two traces in each other’s place',
      (traces) => traces.splice(1, 3, traces[3]!, traces[1]!, traces[2]!),
      'traceAddress',
      /trace 1/,
    ],
    [
      'a trace of the same shape under another parent',
      (traces) => Object.assign(traces[2]!, { traceAddress: [1, 0] }),
      'traceAddress',
      /stands at \[1,0\], expected \[0,0\]/,
    ],
    [
      'a transaction’s tree dropped',
      (traces) => traces.splice(4, 1),
      'transactionPosition',
      /trace 4 begins the tree of transaction 2, expected transaction 1/,
    ],
    [
      'the last tree dropped',
      (traces) => traces.splice(5, 2),
      'traces',
      new RegExp(`transaction 2 \\(${hash('2')}\\) has no traces`),
    ],
    ['everything dropped', (traces) => traces.splice(0), 'traces', /transaction 0 \(0x0+\) has no traces/],
    [
      'two trees in each other’s place',
      (traces) => traces.splice(4, 3, traces[5]!, traces[6]!, traces[4]!),
      'transactionPosition',
      /trace 4 begins the tree of transaction 2, expected transaction 1/,
    ],
    [
      'a tree twice',
      (traces) => traces.splice(5, 0, { ...traces[4]! }),
      'transactionPosition',
      /trace 5 begins the tree of transaction 1, expected transaction 2/,
    ],
    [
      'a tree of no transaction',
      (traces) => traces.splice(7, 0, { ...traces[4]!, transactionPosition: 3 }),
      'transactionPosition',
      /expected no more traces/,
    ],
    [
      'a trace of another transaction inside a tree',
      (traces) => Object.assign(traces[2]!, { transactionPosition: 1 }),
      'transactionPosition',
      /trace 2 is of transaction 1, in the middle of the tree of transaction 0/,
    ],
    [
      'a reward before the end',
      (traces) => traces.unshift(traces.pop()!),
      'traces',
      /transaction 0 .* has no traces/,
    ],
    [
      'a trace behind the rewards',
      (traces) => traces.push({ ...traces[4]! }),
      'type',
      /trace 8 is of transaction 1, but follows the rewards/,
    ],
    [
      'a reward inside a tree',
      (traces) => Object.assign(traces[7]!, { traceAddress: [0] }),
      'traceAddress',
      /trace 7, a reward, is part of a tree/,
    ],
  ])('with %s are refused by name', (_, change, field, message) => {
    const error = failure(change);
    expect(error).toMatchObject({ code: 'PROOF_FAILED', data: { block: 9, proof: 'traces', field } });
    expect(error.message).toMatch(message);
  });

  it.each<[string, (traces: Json[]) => void, string]>([
    ['no array', (traces) => Object.assign(traces[0]!, { traceAddress: {} }), 'traceAddress'],
    ['a fraction', (traces) => Object.assign(traces[0]!, { subtraces: 1.5 }), 'subtraces'],
    ['a hex block number', (traces) => Object.assign(traces[0]!, { blockNumber: '0x9' }), 'blockNumber'],
    [
      'a reward with a hash',
      (traces) => Object.assign(traces[7]!, { transactionHash: hash('0') }),
      'transactionHash',
    ],
    ['no result and no error', (traces) => delete traces[0]!.result, 'result'],
    ['an unknown type', (traces) => Object.assign(traces[0]!, { type: 'burn' }), 'type'],
    ['no call type', (traces) => delete action(traces[0]).callType, 'action.callType'],
    [
      'a quote in a hex string',
      (traces) => Object.assign(action(traces[0]), { input: '0x"' }),
      'action.input',
    ],
  ])('with %s are no traces', (_, change, field) => {
    expect(failure(change)).toMatchObject({
      code: 'RECORD_INVALID',
      data: { block: 9, record: expect.stringMatching(/^trace [07]$/), field },
    });
  });

  it('of a deposit that failed before it ran may be without an error', () => {
    const { block, traces } = small();
    delete traces[4]!.error;
    Object.assign(block.transactions[1]!, { type: '0x7e' });
    expect(() => prover.proveTraces(block, traces)).not.toThrow();
  });
});

describe.each(ALL)('the traces of $title', (source) => {
  it('of which any one is dropped are refused', () => {
    const { traces, ...answer } = source.block('forks', 15537394);
    const block = prover.proveBlock(answer);
    for (const index of traces!.keys()) {
      const left = traces!.filter((_, position) => position !== index);
      const error = thrown(() => prover.proveTraces(block, left));
      expect(error, `trace ${index}`).toMatchObject({ code: 'PROOF_FAILED', data: { proof: 'traces' } });
    }
  });

  it('of the next block are foreign', () => {
    const block = prover.proveBlock(source.block('row', 17686110));
    const { traces } = source.block('row', 17686111);
    expect(thrown(() => prover.proveTraces(block, traces))).toMatchObject({
      message: expect.stringContaining('Block 17686110: trace 0 is foreign: it is of block 17686111 ('),
    });
  });
});
