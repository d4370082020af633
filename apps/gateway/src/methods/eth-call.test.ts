import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';
import type { ScriptedAnswer } from '../testing/scripted-node.js';

let gate: ScriptedGateway;
let says: (params: unknown[]) => ScriptedAnswer | Promise<ScriptedAnswer>;

beforeAll(async () => {
  gate = await startScriptedGateway([
    'id: main, family: evm, chainId: 1',
    'id: rollup, family: evm, chainId: 10, rpc: {gasCap: 50000000}',
    'id: strict, family: evm, chainId: 2, rpc: {gasCap: 50000000, aboveGasCap: reject}',
    'id: free, family: evm, chainId: 3, rpc: {gasCap: null}',
    'id: tight, family: evm, chainId: 4, rpc: {maxCallsInFlight: 2, timeoutMs: 60000, callTimeoutMs: 300}',
  ]);
  gate.node.answer(({ method, params }) => (method === 'eth_call' ? says(params) : { result: null }));
});
afterAll(() => gate?.close());
beforeEach(() => {
  gate.node.calls.length = 0;
  says = () => ({ result: '0x' });
});

const to = `0x${'ab'.repeat(20)}`;
const called = () => gate.asked('eth_call');
const call = (network: string, params: unknown[], as = gate.key) =>
  gate.call(network, 'eth_call', params, as);

describe('the gas of a call', () => {
  it.each([
    ['main', '0x20c85580', '0x20c85580'],
    ['main', '0x20c85581', '0x20c85580'],
    ['rollup', '0x20c85580', '0x2faf080'],
    ['rollup', '0x5208', '0x5208'],
    ['rollup', '0xffffffffffffffff', '0x2faf080'],
    ['free', '0xffffffffffffffff', '0xffffffffffffffff'],
    ['strict', '0x2faf080', '0x2faf080'],
  ])('on %s, %s goes to the node as %s', async (network, gas, sent) => {
    await call(network, [{ to, gas }, 'latest']);
    expect(called()[0]?.[0]).toEqual({ to, gas: sent });
  });

  it('stays absent where it is', async () => {
    for (const network of ['main', 'rollup', 'strict']) await call(network, [{ to }, 'latest']);
    expect(called()).toEqual(Array(3).fill([{ to }, 'latest']));
  });

  it('above the cap is refused where the networks file says so', async () => {
    const { error } = await call('strict', [{ to, gas: '0x2faf081' }]);
    expect(error).toMatchObject({
      code: -32602,
      message: 'invalid argument 0: gas: 50000001 is above the cap of 50000000',
    });
    expect(called()).toEqual([]);
  });
});

describe('the parameters of a call', () => {
  it.each([
    [[{ to }], [{ to }, 'latest']],
    [
      [{ to }, null],
      [{ to }, 'latest'],
    ],
    [
      [{ to, input: '0x12' }, '0x5'],
      [{ to, input: '0x12' }, '0x5'],
    ],
    [[{ to, data: '0xAB', input: '0xab' }], [{ to, data: '0xAB', input: '0xab' }, 'latest']],
    [
      [{ to, from: null }, { blockHash: `0x${'1'.repeat(64)}` }],
      [{ to, from: null }, { blockHash: `0x${'1'.repeat(64)}` }],
    ],
    [
      [{ to }, 'pending', { [to]: { balance: '0x1' } }],
      [{ to }, 'pending', { [to]: { balance: '0x1' } }],
    ],
  ])('%j are sent as %j', async (params, sent) => {
    expect((await call('main', params)).result).toBe('0x');
    expect(called()[0]).toEqual(sent);
  });

  it.each([
    [[], /missing value for required argument 0/],
    [['0x'], /argument 0: expected a call object/],
    [[{ to, data: '0x1', input: '0x2' }], /argument 0: data: hex string of odd length/],
    [[{ to, data: '0x01', input: '0x02' }], /both "data" and "input" are set and not equal/],
    [[{ to, value: 5 }], /value: expected a hex string, got number/],
    [[{ to }, { blockHash: '0x1' }], /argument 1: hex string of odd length/],
  ])('%j are refused by name', async (params, message) => {
    expect((await call('main', params)).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(message),
    });
    expect(called()).toEqual([]);
  });
});

describe('calls in flight', () => {
  it('are so many of one key; the next is refused, others’ are not, and it may come again', async () => {
    const held: (() => void)[] = [];
    says = () => new Promise((resolve) => held.push(() => resolve({ result: '0x' })));
    const data = (n: number) => ({ to, data: `0x0${n}` });
    gate.at.time.frozenAt = Date.now();
    const first = [1, 2].map((n) => call('main', [data(n)]));
    const other = (await gate.at.makeKey()).key;
    const waiting = [1, 2].map((n) => call('tight', [data(n)]));
    await expect.poll(() => held.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
    const third = await call('tight', [data(3)]);
    expect([third.status, third.error]).toMatchObject([
      429,
      { code: -32005, data: { reason: 'rate-limited', limit: 2, retryAfterMs: 1_000 } },
    ]);
    expect(third.headers['retry-after']).toBe('1');
    const theirs = call('tight', [data(4)], other);
    says = () => ({ result: '0x' });
    await expect.poll(() => called().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(5);
    for (const release of held) release();
    gate.at.time.frozenAt = null;
    await Promise.all([...first, ...waiting, theirs]);
    expect((await call('tight', [data(5)])).result).toBe('0x');
  });

  it('have a time of their own, and what was refused or timed out is not counted any more', async () => {
    says = () => 'hang';
    for (const n of [6, 7, 8]) {
      const { status, error } = await call('tight', [{ to, data: `0x0${n}` }]);
      expect([status, error]).toMatchObject([504, { code: -32002 }]);
    }
  });
});
