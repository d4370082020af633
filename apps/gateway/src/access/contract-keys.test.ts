import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, post } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';

const MINE = `0x${'aA'.repeat(20)}`;
const ALSO = `0x${'bb'.repeat(20)}`;
const OTHER = `0x${'cc'.repeat(20)}`;
const HASH = `0x${'11'.repeat(32)}`;
/** An example of CIP-37. */
const CORE = 'cfx:acc7uawf5ubtnmezvhu9dhc6sghea0403y2dgpyfjp';
const DATA = '0x70a08231';
const FORBIDDEN = { status: 403, error: { code: -32001, data: { reason: 'forbidden' } } };

let on: ScriptedGateway;
let key: string;
let free: string;
beforeAll(async () => {
  on = await startScriptedGateway([
    'id: main, family: evm, chainId: 1, rpc: {allow: [eth_sendRawTransaction, eth_simulateV1, eth_createAccessList, debug_traceCall, debug_traceTransaction, trace_call, trace_filter, eth_multicall]}',
    'id: core, family: core, chainId: 1029',
    'id: cell, family: cell',
    'id: names, family: registry',
  ]);
  on.node.answer(({ method }) => {
    if (method === 'eth_getBlockByNumber') {
      return { result: { number: '0x64', hash: HASH, parentHash: HASH } };
    }
    return { result: method.endsWith('Logs') ? [] : '0x1' };
  });
  const { keys } = on.at.database;
  const make = async (contracts: string[]) =>
    (await keys.create({ application: 'shop', network: null, plan: 'unlimited', contracts })).key;
  key = await make([MINE.toLowerCase(), ALSO]);
  free = await make([]);
  await on.at.stage(100, 104);
  await on.at.publish(100, 104);
});
afterAll(() => on?.close());

const call = (method: string, params: unknown, network = 'main') => on.call(network, method, params, key);

describe('a key for contracts', () => {
  it.each([
    ['eth_call', [{ to: MINE, data: DATA }, 'latest']],
    ['eth_call', [{ to: MINE.toLowerCase(), data: DATA }]],
    ['eth_call', [{ to: ALSO, from: OTHER, data: DATA }, { blockHash: HASH }]],
    ['eth_call', [{ to: MINE }, 'latest', null]],
    ['eth_call', [{ to: MINE }, 'latest', {}, {}]],
    ['eth_estimateGas', [{ to: ALSO, data: DATA }]],
    ['eth_getLogs', [{ address: MINE }]],
    ['eth_getLogs', [{ address: [MINE, ALSO], fromBlock: '0x1', toBlock: '0x2' }]],
    ['eth_getLogs', [{ address: ALSO, blockHash: HASH }]],
    ['eth_newFilter', [{ address: [ALSO] }]],
    ['eth_newBlockFilter', []],
    ['eth_getCode', [MINE, 'latest']],
    ['eth_getStorageAt', [MINE, '0x0', 'latest']],
    ['eth_getBalance', [ALSO, 'latest']],
    ['eth_getTransactionCount', [ALSO]],
    ['eth_getProof', [MINE, [], 'latest']],
    ['eth_chainId', []],
    ['eth_blockNumber', []],
    ['eth_gasPrice', []],
    ['net_version', []],
    ['web3_clientVersion', []],
    ['eth_getBlockByNumber', ['latest', false]],
    ['eth_getTransactionByHash', [HASH]],
    ['eth_getTransactionReceipt', [HASH]],
  ])('may call %s %j', async (method, params) => {
    const { error } = await call(method, params);
    expect(error?.data?.reason).not.toBe('forbidden');
  });

  it.each([
    ['eth_call', [{ to: OTHER, data: DATA }, 'latest']],
    ['eth_call', [{ data: DATA }, 'latest']],
    ['eth_call', [{ to: null, input: DATA }]],
    ['eth_call', [{ from: MINE, data: DATA }]],
    ['eth_call', [{ to: MINE }, 'latest', { [MINE]: { code: '0x00' } }]],
    ['eth_call', [{ to: MINE }, 'latest', { [OTHER]: { balance: '0x1' } }]],
    ['eth_call', [{ to: MINE }, 'latest', null, { number: '0x1' }]],
    ['eth_call', [{ to: [MINE] }]],
    ['eth_call', ['nonsense']],
    ['eth_call', []],
    ['eth_estimateGas', [{ to: OTHER }]],
    ['eth_estimateGas', [{ data: DATA }]],
    ['eth_estimateGas', [{ to: MINE }, 'latest', { [MINE]: { code: '0x00' } }]],
    ['eth_getLogs', [{}]],
    ['eth_getLogs', [{ address: [] }]],
    ['eth_getLogs', [{ address: null, topics: [HASH] }]],
    ['eth_getLogs', [{ address: OTHER }]],
    ['eth_getLogs', [{ address: [MINE, OTHER] }]],
    ['eth_getLogs', [{ address: [OTHER, MINE] }]],
    ['eth_getLogs', [{ blockHash: HASH }]],
    ['eth_getLogs', [{ Address: MINE, address: OTHER }]],
    ['eth_newFilter', [{}]],
    ['eth_newFilter', [{ address: [ALSO, OTHER] }]],
    ['eth_getCode', [OTHER, 'latest']],
    ['eth_getStorageAt', [OTHER, '0x0', 'latest']],
    ['eth_getBalance', [OTHER, 'latest']],
    ['eth_getTransactionCount', [OTHER]],
    ['eth_getProof', [OTHER, [], 'latest']],
    ['eth_getCode', []],
    ['eth_getBlockReceipts', ['latest']],
    ['eth_simulateV1', [{ blockStateCalls: [{ calls: [{ to: MINE }] }] }, 'latest']],
    ['eth_createAccessList', [{ to: MINE }]],
    ['eth_multicall', [[{ to: MINE }]]],
    ['debug_traceCall', [{ to: MINE }, 'latest', {}]],
    ['debug_traceTransaction', [HASH]],
    ['trace_call', [{ to: MINE }, ['trace'], 'latest']],
    ['trace_filter', [{ toAddress: [MINE] }]],
  ])('may not call %s %j, and no node is asked', async (method, params) => {
    const before = on.asked(method).length;
    const answer = await call(method, params);
    expect(answer).toMatchObject(FORBIDDEN);
    expect(answer.error?.message).toMatch(/^This API key .*contract.*\.$/);
    expect(answer.error?.message).not.toMatch(/0x[ab]{4}/i);
    expect(on.asked(method)).toHaveLength(before);
  });

  it('may not write a name of a call in another case, which nodes in Go read all the same', async () => {
    for (const name of ['To', 'TO', 'tO']) {
      const answer = await call('eth_call', [{ to: MINE, [name]: OTHER, data: DATA }, 'latest']);
      expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining('expected "to"') });
    }
    const gas = await on.call('main', 'eth_call', [{ to: MINE, gas: '0x1', gaſ: '0xffffffff' }], free);
    expect(gas.error).toMatchObject({ code: -32602, message: expect.stringContaining('expected "gas"') });
  });

  it('is refused for what another key was answered from memory', async () => {
    const params = [OTHER, '0x0', '0x1'];
    expect((await on.call('main', 'eth_getStorageAt', params, free)).error).toBeUndefined();
    expect(await call('eth_getStorageAt', params)).toMatchObject(FORBIDDEN);
  });

  it('is refused call by call in a batch', async () => {
    const calls = [MINE, OTHER, ALSO].map((to, id) => ({
      id,
      method: 'eth_call',
      params: [{ to }, 'latest'],
    }));
    const { status, json } = await post(on.at.url, `/main/v1/${key}`, calls);
    expect([status, json()]).toMatchObject([
      200,
      [
        { id: 0, result: '0x1' },
        { id: 1, error: FORBIDDEN.error },
        { id: 2, result: '0x1' },
      ],
    ]);
  });

  it('reads a filter that it made, and no other key reads it', async () => {
    const { result: id } = await call('eth_newFilter', [{ address: MINE }]);
    expect((await call('eth_getFilterLogs', [id])).result).toEqual([]);
    expect((await on.call('main', 'eth_getFilterLogs', [id], free)).error?.message).toBe('filter not found');
    const { result: theirs } = await on.call('main', 'eth_newFilter', [{}], free);
    expect((await call('eth_getFilterLogs', [theirs])).error?.message).toBe('filter not found');
  });

  it('names contracts of the core family by their hex form', async () => {
    const { keys } = on.at.database;
    const contracts = ['0x85d80245dc02f5a89589e1f19c5c718e405b56cd'];
    const made = await keys.create({ application: 'shop', network: 'core', plan: 'free', contracts });
    const logs = (address?: unknown) => on.call('core', 'cfx_getLogs', [{ address }], made.key);
    expect((await logs()).error).toMatchObject(FORBIDDEN.error);
    expect((await logs([OTHER])).error).toMatchObject(FORBIDDEN.error);
    expect((await logs('cfx:aarc9abycue0hhzgyrr53m6cxedgccrmmyybjgh4xg')).error).toMatchObject(
      FORBIDDEN.error,
    );
    expect((await logs(CORE)).error?.data?.reason).not.toBe('forbidden');
  });

  it.each([
    ['cell', 'get_consensus', []],
    ['names', 'registry_accountList', [{ type: 'blockchain', key_info: { key: MINE } }]],
  ])('opens no network without contracts: %s %s', async (network, method, params) => {
    expect(await call(method, params, network)).toMatchObject(FORBIDDEN);
  });

  it('opens no files, pointers, lists or tokens; its usage and its methods are its own', async () => {
    const bundles = [
      'blocks/100',
      'coverage',
      'files?kind=blocks',
      'manifest?kind=blocks',
      'filters?kind=logs',
    ];
    for (const path of bundles.map((each) => `/ethereum/v1/${key}/bundle-api/${each}`)) {
      const answer = await ask(on.at.url, path.replace('/ethereum/', '/main/'));
      expect([answer.status, answer.json().reason]).toEqual([403, 'forbidden']);
    }
    const file = await ask(on.at.url, '/main/files/blocks/100-104.json.gz', {
      headers: { authorization: `Bearer ${key}` },
    });
    expect([file.status, file.json().reason]).toEqual([403, 'forbidden']);
    expect(file.json().detail).toBe('This API key is restricted to contracts; files and tokens are not.');
    expect((await ask(on.at.url, `/main/v1/${key}/usage`)).status).toBe(200);
    const { methods } = (await ask(on.at.url, `/main/v1/${key}`)).json() as { methods: { name: string }[] };
    const names = methods.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['eth_call', 'eth_getLogs', 'eth_chainId']));
    for (const name of ['eth_getBlockReceipts', 'debug_traceCall', 'trace_filter'])
      expect(names).not.toContain(name);
  });
});
