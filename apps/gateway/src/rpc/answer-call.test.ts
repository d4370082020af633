import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

const [FINAL, HEAD] = [50, 100];
const hex = (n: number): string => `0x${n.toString(16)}`;
const hash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

let node: ScriptedNode;
let at: TestGateway;
let key: string;
/** The node's answers to the calls of the tests. */
let says: unknown;
/** If set, answers wait for it. */
let gate: Promise<void> | undefined;

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(async ({ method, params }) => {
    const block = params[0];
    if (
      method === 'eth_getBlockByNumber' &&
      params[1] === false &&
      (block === 'latest' || block === 'finalized')
    ) {
      const number = hex(block === 'latest' ? HEAD : FINAL);
      return { result: { number, hash: hash(1), parentHash: hash(0) } };
    }
    await gate;
    return { result: says };
  });
  const networks = parseNetworks(
    `networks:\n  - {id: main, family: evm, chainId: 1, upstreams: [{url: '${node.url}'}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  key = (await at.makeKey()).key;
  const known = async (): Promise<boolean> => {
    // The final block is known when a final one is kept.
    says = { number: '0x1' };
    node.calls.length = 0;
    await call('eth_getBlockByHash', [hash(999), true]);
    await call('eth_getBlockByHash', [hash(999), true]);
    return asked('eth_getBlockByHash') < 2;
  };
  const deadline = Date.now() + 60_000;
  while (!(await known())) expect(Date.now()).toBeLessThan(deadline);
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});
beforeEach(() => {
  node.calls.length = 0;
  gate = undefined;
});

const call = async (method: string, params: unknown[]): Promise<string> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  return (await ask(at.url, `/main/v1/${key}`, { method: 'POST', body, headers })).text;
};
/** Questions of this method; the gateway's own watching of heads left out. */
const asked = (method: string): number =>
  node.calls.filter((one) => one.method === method && one.params[1] !== false).length;

describe('a result about final blocks', () => {
  it.each([
    ['eth_getBlockByNumber', [hex(FINAL), true], { number: hex(FINAL) }],
    ['eth_getBlockByHash', [hash(1), true], { number: hex(FINAL) }],
    ['eth_getTransactionByHash', [hash(2)], { blockNumber: hex(FINAL) }],
    ['eth_getTransactionReceipt', [hash(3)], { blockNumber: hex(3) }],
    ['eth_getBlockReceipts', [hex(7)], []],
    ['eth_call', [{ to: `0x${'1'.repeat(40)}` }, hex(FINAL)], '0x12'],
    ['eth_getStorageAt', [`0x${'1'.repeat(40)}`, '0x0', hex(FINAL)], hash(1)],
    ['eth_getLogs', [{ fromBlock: '0x1', toBlock: hex(FINAL) }], []],
  ])('of %s is asked for once', async (method, params, result) => {
    says = result;
    const first = await call(method, params);
    says = 'something else';
    expect(await call(method, params)).toBe(first);
    expect(asked(method)).toBe(1);
  });

  it('is given with the id that was sent, charged and counted, however often it was asked for', async () => {
    const params = [`0x${'2'.repeat(40)}`, '0x0', hex(FINAL)];
    says = hash(2);
    const headers = { 'content-type': 'application/json' };
    const left: number[] = [];
    for (const id of ['7', '8', '9', '10', '"a"', '11']) {
      const body = `{"jsonrpc":"2.0","id":${id},"method":"eth_getStorageAt","params":${JSON.stringify(params)}}`;
      const answer = await ask(at.url, `/main/v1/${key}`, { method: 'POST', body, headers });
      expect(answer.text).toBe(`{"jsonrpc":"2.0","id":${id},"result":"${hash(2)}"}`);
      left.push(Number(answer.headers['ratelimit-remaining']));
    }
    expect(asked('eth_getStorageAt')).toBe(1);
    expect(new Set(left).size).toBe(6);
    const metrics = (await ask(at.url, '/metrics', { headers: { authorization: `Bearer ${key}` } })).text;
    expect(metrics).toMatch(
      /packhouse_rpc_calls_total\{network="main",method="eth_getStorageAt",code="ok"\} [78]/,
    );
  });
});

describe('never kept is', () => {
  it.each([
    ['nothing', 'eth_getBlockByNumber', [hex(FINAL - 1), true], null],
    ['nothing', 'eth_getTransactionByHash', [hash(4)], null],
    ['a waiting transaction', 'eth_getTransactionByHash', [hash(5)], { blockNumber: null }],
    [
      'a block that is not final yet',
      'eth_getBlockByNumber',
      [hex(FINAL + 1), true],
      { number: hex(FINAL + 1) },
    ],
    ['a block that is not final yet', 'eth_getBlockByHash', [hash(6), true], { number: hex(FINAL + 1) }],
    ['a receipt that is not final yet', 'eth_getTransactionReceipt', [hash(7)], { blockNumber: hex(HEAD) }],
    ...['latest', 'earliest', 'pending'].map((tag): [string, string, unknown[], unknown] => [
      'what a tag names',
      'eth_getBlockByNumber',
      [tag, true],
      { number: hex(tag === 'earliest' ? 0 : HEAD) },
    ]),
    ['what a tag names', 'eth_getStorageAt', [`0x${'1'.repeat(40)}`, '0x0'], hash(1)],
    ['what a tag names', 'eth_getLogs', [{ fromBlock: '0x1', toBlock: 'finalized' }], []],
    ['logs that are not final yet', 'eth_getLogs', [{ fromBlock: '0x1', toBlock: hex(FINAL + 1) }], []],
  ])('%s: %s %j', async (_, method, params, result) => {
    says = result;
    await call(method, params);
    await call(method, params);
    expect(asked(method)).toBe(2);
  });
});

it('the same question at the same time is asked once, though the first client goes away', async () => {
  says = '0x5';
  let open = (): void => undefined;
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const question = { method: 'eth_getTransactionByHash', params: [hash(50)] };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...question });
  const first = new AbortController();
  const left = fetch(`${at.url}/main/v1/${key}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
    signal: first.signal,
  });
  await expect.poll(() => asked(question.method), { timeout: 60_000 }).toBe(1);
  const others = Array.from({ length: 20 }, () => call(question.method, question.params));
  // The other calls follow this one.
  await call('eth_newBlockFilter', []);
  first.abort();
  await expect(left).rejects.toThrow();
  open();
  expect(new Set(await Promise.all(others))).toEqual(new Set(['{"jsonrpc":"2.0","id":1,"result":"0x5"}']));
  expect(asked(question.method)).toBeLessThanOrEqual(2);
  expect(at.log.filter((line) => line.includes('The gateway failed'))).toEqual([]);
});
