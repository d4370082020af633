import { createProver, traceProofs } from '@packhouse/chain';
import { ALL, GIVEN, getGiven } from '@packhouse/recordings';
import { extendChain, type RecordedBlock, readValue, type ServedBlock } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../../test/anvil.js';
import { makeLivelyChain } from '../../test/lively-chain.js';
import { flattenCallFrame, toTraceBlock } from './flatten-traces.js';

interface Block {
  number: string;
  hash: string;
  transactions: string[];
}

type Trace = {
  type: string;
  action: Record<string, unknown>;
  result?: Record<string, unknown> | null;
  error?: string;
  traceAddress: number[];
  subtraces: number;
  transactionPosition: number;
  blockNumber: number;
};

const OWNER = { blockHash: '0xb', blockNumber: 7, transactionHash: '0xt', transactionPosition: 3 };

describe('flattenCallFrame against trace_block of a real Anvil', () => {
  let anvil: Anvil;
  let block: Block;
  let flattened: Trace[];
  let oracle: Trace[];

  beforeAll(async () => {
    anvil = await startAnvil();
    await makeLivelyChain(anvil);
    block = await anvil.rpc<Block>('eth_getBlockByNumber', ['latest', false]);
    oracle = await anvil.rpc<Trace[]>('trace_block', [block.number]);
    const debug = await anvil.rpc<{ result: unknown }[]>('debug_traceBlockByHash', [
      block.hash,
      { tracer: 'callTracer' },
    ]);
    flattened = debug.flatMap(
      (entry, index) =>
        flattenCallFrame(entry.result, {
          blockHash: block.hash,
          blockNumber: Number(block.number),
          transactionHash: block.transactions[index] as string,
          transactionPosition: index,
        }) as Trace[],
    );
  });

  afterAll(() => anvil?.stop());

  it('gives the same traces, but for the gas of the root, inner built-in calls and results of failures', () => {
    expect(block.transactions).toHaveLength(10);
    const comparable = (traces: Trace[]): unknown[] =>
      traces
        .filter((trace) => trace.transactionPosition !== 1)
        .map((trace) => {
          const { error, result, ...rest } = structuredClone(trace);
          // The root's gas is the transaction's in one and the call's in the other.
          if (trace.traceAddress.length === 0 && result?.gasUsed !== undefined) result.gasUsed = 'root';
          // Anvil puts null if a failed frame has no result, and an address if a creation reverted.
          const kept =
            result === null || (error !== undefined && trace.type === 'create') ? undefined : result;
          return { ...rest, error, result: kept };
        });
    expect(comparable(flattened)).toEqual(comparable(oracle));
    const kinds = new Set(
      flattened.map((trace) => `${trace.type} ${String(trace.action.callType ?? '')} ${trace.error}`),
    );
    expect([...kinds].sort()).toEqual([
      'call call Bad instruction',
      'call call Reverted',
      'call call undefined',
      'call callcode undefined',
      'call delegatecall Reverted',
      'call delegatecall undefined',
      'call staticcall undefined',
      'create  Bad instruction',
      'create  Reverted',
      'create  undefined',
      'suicide  undefined',
    ]);
  });

  it('leaves out inner calls of built-in contracts that move no value, which Anvil alone reports', () => {
    const mine = flattened.filter((trace) => trace.transactionPosition === 1);
    const theirs = oracle.filter((trace) => trace.transactionPosition === 1);
    expect(theirs.map((trace) => trace.subtraces)).toEqual([3, 0, 0, 0]);
    expect(mine.map((trace) => [trace.subtraces, trace.traceAddress])).toEqual([
      [1, []],
      [0, [0]],
    ]);
    expect(mine[1]?.action).toEqual(theirs[3]?.action);
  });
});

describe('flattenCallFrame', () => {
  const frame = {
    type: 'CALL',
    from: '0x1',
    to: '0x2',
    value: '0x5',
    gas: '0x10',
    gasUsed: '0x1',
    input: '0x',
  };

  it('writes the block number as a number and a self-destruct as a trace of its own', () => {
    const [root, suicide] = flattenCallFrame(
      { ...frame, calls: [{ type: 'SELFDESTRUCT', from: '0x2', to: '0x3', value: '0x9' }] },
      OWNER,
    );
    expect(root).toMatchObject({ blockNumber: 7, subtraces: 1, traceAddress: [], type: 'call' });
    expect(suicide).toEqual({
      type: 'suicide',
      action: { address: '0x2', refundAddress: '0x3', balance: '0x9' },
      result: null,
      blockHash: '0xb',
      blockNumber: 7,
      subtraces: 0,
      traceAddress: [0],
      transactionHash: '0xt',
      transactionPosition: 3,
    });
  });

  it('gives a delegatecall that does not say so the value of its caller, and a staticcall none', () => {
    const traces = flattenCallFrame(
      {
        ...frame,
        calls: [
          { type: 'DELEGATECALL', from: '0x2', to: '0x3', gas: '0x1', gasUsed: '0x1', input: '0x' },
          { type: 'STATICCALL', from: '0x2', to: '0x3', gas: '0x1', gasUsed: '0x1', input: '0x' },
        ],
      },
      OWNER,
    );
    expect(traces.map((trace) => (trace.action as { value: string }).value)).toEqual(['0x5', '0x5', '0x0']);
  });

  it('keeps a call of what was no built-in contract yet: an empty account uses no gas', () => {
    const inner = { ...frame, value: '0x0', to: '0x000000000000000000000000000000000000000a' };
    const kept = flattenCallFrame({ ...frame, calls: [{ ...inner, gasUsed: '0x0' }] }, OWNER);
    const left = flattenCallFrame({ ...frame, calls: [{ ...inner, gasUsed: '0xc350' }] }, OWNER);
    expect([kept.length, left.length]).toEqual([2, 1]);
  });

  const BUILT_IN = '0x0000000000000000000000000000000000000006';

  it.each([
    ['a call', 'CALL', '0x0', {}, 0],
    ['a call that moves value', 'CALL', '0x1', {}, 1],
    ['a callcode that moves value', 'CALLCODE', '0x1', {}, 1],
    ['a staticcall', 'STATICCALL', undefined, {}, 0],
    ["a delegatecall, whose value is its caller's", 'DELEGATECALL', '0x5', {}, 0],
    ['one without gas, which fails', 'CALL', '0x0', { gasUsed: '0x0', error: 'out of gas' }, 0],
  ])('of built-in contracts keeps what moves value: %s', (_, type, value, more, kept) => {
    const inner = { ...frame, type, value, to: BUILT_IN, ...more };
    const traces = flattenCallFrame({ ...frame, calls: [inner, { ...frame, to: '0x7' }] }, OWNER);
    expect(traces.map((trace) => trace.traceAddress)).toEqual(kept === 1 ? [[], [0], [1]] : [[], [0]]);
    expect(traces[0]?.subtraces).toBe(1 + kept);
  });

  it('names what a built-in contract refuses, and gives what a creation returned when it was undone', () => {
    const inner = { ...frame, to: BUILT_IN, error: 'bn256: malformed point' };
    const undone = { ...frame, type: 'CREATE', to: undefined, error: 'execution reverted', output: '0x2a' };
    const [, call, creation] = flattenCallFrame({ ...frame, calls: [inner, undone] }, OWNER);
    expect(call).toMatchObject({ error: 'Built-in failed' });
    expect(creation).toMatchObject({ error: 'Reverted', result: { gasUsed: '0x1', output: '0x2a' } });
  });

  it('words errors as trace_block does and gives a failure no result, but for what a revert returned', () => {
    const fail = (error: string): unknown => flattenCallFrame({ ...frame, error, output: '0x2a' }, OWNER)[0];
    expect(fail('out of gas')).toMatchObject({ error: 'Out of gas' });
    expect(fail('out of gas')).not.toHaveProperty('result');
    expect(fail('invalid opcode: INVALID')).toMatchObject({ error: 'Bad instruction' });
    expect(fail('stack underflow (0 <=> 1)')).toMatchObject({ error: 'Stack underflow' });
    expect(fail('execution reverted')).toMatchObject({
      error: 'Reverted',
      result: { gasUsed: '0x1', output: '0x2a' },
    });
    expect(fail('something new')).toMatchObject({ error: 'something new' });
  });
});

describe('toTraceBlock', () => {
  const trace = (traceAddress: number[], subtraces: number, to: string, more: object = {}) => ({
    type: 'call',
    action: { callType: 'call', from: '0x1', to, value: '0x0' },
    result: { gasUsed: '0x9', output: '0x' },
    traceAddress,
    subtraces,
    ...more,
  });
  const BUILT_IN = '0x0000000000000000000000000000000000000004';

  it('leaves out silent calls of built-in contracts, and moves up what is behind them and below', () => {
    const traces = [
      trace([], 4, '0x2'),
      trace([0], 0, BUILT_IN),
      trace([1], 2, '0x3'),
      trace([1, 0], 0, BUILT_IN),
      trace([1, 1], 0, '0x4'),
      trace([2], 0, BUILT_IN),
      trace([3], 0, '0x5'),
    ];
    const given = structuredClone(traces);
    expect(toTraceBlock(traces)).toEqual([
      trace([], 2, '0x2'),
      trace([0], 1, '0x3'),
      trace([0, 0], 0, '0x4'),
      trace([1], 0, '0x5'),
    ]);
    expect(traces).toEqual(given);
  });

  it('keeps a transaction to a built-in contract', () => {
    expect(toTraceBlock([trace([], 0, BUILT_IN)])).toEqual([trace([], 0, BUILT_IN)]);
  });

  it('leaves the same out of a list that is no tree, which stays none', () => {
    const traces = [trace([], 3, '0x2'), trace([0], 0, BUILT_IN), trace([2], 0, '0x3')];
    expect(toTraceBlock(traces)).toEqual([trace([], 2, '0x2'), trace([1], 0, '0x3')]);
  });

  it('names errors as trace_block does, and gives a self-destruct no result as null', () => {
    const suicide = { type: 'suicide', action: { address: '0x1' }, traceAddress: [0], subtraces: 0 };
    const failed = trace([], 1, '0x2', { error: 'out of gas: write protection' });
    expect(toTraceBlock([failed, suicide])).toEqual([
      { ...failed, error: 'Mutable Call In Static Context' },
      { ...suicide, result: null },
    ]);
  });

  it.each([[null], [7], [{}], [{ traceAddress: 'x' }], [{ traceAddress: [0], action: null }]])(
    'leaves %j to the prover',
    (value) => {
      expect(toTraceBlock([value])).toEqual([value]);
      const rest = [trace([], 1, '0x2'), trace([0], 0, BUILT_IN)];
      expect(toTraceBlock([value, ...rest])).toEqual([value, trace([], 0, '0x2')]);
    },
  );
});

/** Nodes differ in how a creation is named, and in whether a failure has a result. */
function comparable({ action, result, error, ...rest }: Trace): unknown {
  const { creationMethod: _, ...named } = action;
  return { ...rest, error, action: named, result: error === undefined ? result : undefined };
}

it.each(ALL)('frames that the traces of $title are nested into are the same traces again', (source) => {
  const blocks = source.blocks<RecordedBlock>('row');
  const chain = extendChain(blocks, { length: blocks.length });
  for (const { number, block, traces = [] } of blocks) {
    const nested = readValue(chain.block(number) as ServedBlock, 'debugCall') as { result: unknown }[];
    for (const [transactionPosition, { result }] of nested.entries()) {
      const owner = {
        blockHash: block.hash,
        blockNumber: number,
        transactionHash: block.transactions[transactionPosition]?.hash ?? '',
        transactionPosition,
      };
      const flattened = flattenCallFrame(result, owner) as Trace[];
      const own = traces.filter((trace) => trace.transactionPosition === transactionPosition);
      // Silent calls of built-in contracts are left out of both.
      expect(flattened.map(comparable)).toEqual((toTraceBlock(own) as Trace[]).map(comparable));
    }
  }
});

it.skipIf(GIVEN === null)(
  'real frames of callTracer are traces whose calls cover every log (needs RECORDINGS)',
  async () => {
    const lines = getGiven().lines('other-networks');
    const row = JSON.parse(lines.find((line) => line.includes('"callTraces"')) as string) as {
      block: Block & { transactions: { hash: string }[] };
      receipts: unknown;
      callTraces: unknown[];
    };
    const traces = row.callTraces.flatMap((frame, transactionPosition) =>
      flattenCallFrame(frame, {
        blockHash: row.block.hash,
        blockNumber: Number(row.block.number),
        transactionHash: row.block.transactions[transactionPosition]?.hash ?? '',
        transactionPosition,
      }),
    );
    const prover = await createProver({
      header: 'recompute',
      transactions: 'recompute',
      receipts: 'recompute',
      senders: 'all',
      extraFields: 'keep',
    });
    const proved = prover.proveBlock({ block: row.block, receipts: row.receipts });
    expect(proved.transactions.flatMap(({ logAddresses = [] }) => logAddresses).length).toBeGreaterThan(5);
    expect(traceProofs(proved)).toEqual(['traces', 'logAddresses']);
    expect(() => prover.proveTraces(proved, traces)).not.toThrow();
  },
);

it('a frame of a self-destruction that names nobody is refused with its place', async () => {
  const [proxy, code, heir] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`);
  const [blockHash, transactionHash] = ['1', '2'].map((digit) => `0x${digit.repeat(64)}`) as [string, string];
  const owner = { blockHash, blockNumber: 1, transactionHash, transactionPosition: 0 };
  const used = { gas: '0x9', gasUsed: '0x1', input: '0x', value: '0x0' };
  const frame = (end: object) => ({
    ...used,
    type: 'CALL',
    from: heir,
    to: proxy,
    calls: [{ ...used, type: 'DELEGATECALL', from: proxy, to: code, calls: [end] }],
  });
  const prover = await createProver({
    header: 'recompute',
    transactions: 'recompute',
    receipts: 'recompute',
    senders: 'off',
    extraFields: 'keep',
  });
  const transactions = [{ hash: transactionHash, from: heir!, to: proxy!, value: '0x0', input: '0x' }];
  const prove = (end: object) =>
    prover.proveTraces({ number: 1, hash: blockHash, transactions }, flattenCallFrame(frame(end), owner));
  const right = {
    type: 'SELFDESTRUCT',
    from: proxy,
    to: heir,
    gas: '0x0',
    gasUsed: '0x0',
    input: '0x',
    value: '0x0',
  };
  expect(JSON.parse(prove(right))).toHaveLength(3);
  const nobody = `0x${'0'.repeat(40)}`;
  const refused = (end: object) => expect(() => prove(end));
  // reth 2.4.0
  refused({ type: 'SELFDESTRUCT', from: nobody, gas: '0x0', gasUsed: '0x0', input: '0x' }).toThrow(
    /trace 2, action\.refundAddress/,
  );
  refused({ ...right, from: nobody }).toThrow(
    /trace 2, of transaction 0, destroys 0x0{40}, but 0xa{40} executes/,
  );
  refused({ ...right, from: code }).toThrow(/destroys 0xb{40}, but 0xa{40} executes/);
});
