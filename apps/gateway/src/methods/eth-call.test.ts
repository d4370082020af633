import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedAnswer, type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let node: ScriptedNode;
let at: TestGateway;
let key: string;
let says: (params: unknown[]) => ScriptedAnswer | Promise<ScriptedAnswer>;

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(({ method, params }) => (method === 'eth_call' ? says(params) : { result: null }));
  const upstreams = `upstreams: [{url: '${node.url}'}]`;
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, ${upstreams}}
  - {id: rollup, family: evm, chainId: 10, rpc: {gasCap: 50000000}, ${upstreams}}
  - {id: strict, family: evm, chainId: 2, rpc: {gasCap: 50000000, aboveGasCap: reject}, ${upstreams}}
  - {id: free, family: evm, chainId: 3, rpc: {gasCap: null}, ${upstreams}}
  - {id: tight, family: evm, chainId: 4, rpc: {maxCallsInFlight: 2, timeoutMs: 60000, callTimeoutMs: 300}, ${upstreams}}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  key = (await at.makeKey()).key;
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});
beforeEach(() => {
  node.calls.length = 0;
  says = () => ({ result: '0x' });
});

const to = `0x${'ab'.repeat(20)}`;
const called = () => node.calls.filter(({ method }) => method === 'eth_call');
async function call(network: string, params: unknown[], as = key) {
  const answer = await ask(at.url, `/${network}/v1/${as}`, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params }),
    headers: { 'content-type': 'application/json' },
  });
  return { answer, ...(answer.json() as { result?: unknown; error?: { code: number; message: string } }) };
}

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
    expect(called()[0]?.params[0]).toEqual({ to, gas: sent });
  });

  it('stays absent where it is', async () => {
    for (const network of ['main', 'rollup', 'strict']) await call(network, [{ to }, 'latest']);
    expect(called().map(({ params }) => params)).toEqual(Array(3).fill([{ to }, 'latest']));
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
    expect(called()[0]?.params).toEqual(sent);
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
    at.time.frozenAt = Date.now();
    const first = [1, 2].map((n) => call('main', [data(n)]));
    const other = (await at.makeKey()).key;
    const waiting = [1, 2].map((n) => call('tight', [data(n)]));
    await expect.poll(() => held.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
    const third = await call('tight', [data(3)]);
    expect([third.answer.status, third.error]).toMatchObject([
      429,
      { code: -32005, data: { reason: 'rate-limited', limit: 2, retryAfterMs: 1_000 } },
    ]);
    expect(third.answer.headers['retry-after']).toBe('1');
    const theirs = call('tight', [data(4)], other);
    says = () => ({ result: '0x' });
    await expect.poll(() => called().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(5);
    for (const release of held) release();
    at.time.frozenAt = null;
    await Promise.all([...first, ...waiting, theirs]);
    expect((await call('tight', [data(5)])).result).toBe('0x');
  });

  it('have a time of their own, and what was refused or timed out is not counted any more', async () => {
    says = () => 'hang';
    for (const n of [6, 7, 8]) {
      const { answer, error } = await call('tight', [{ to, data: `0x0${n}` }]);
      expect([answer.status, error]).toMatchObject([504, { code: -32002 }]);
    }
  });
});
