import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';

const WHO = `0x${'ab'.repeat(20)}`;
let gate: ScriptedGateway;

beforeAll(async () => {
  gate = await startScriptedGateway([
    'id: main, family: evm, chainId: 1, rpc: {gasCap: 50000000}',
    'id: strict, family: evm, chainId: 1, rpc: {profile: strict, allow: [eth_getCode]}',
    'id: cell, family: cell',
  ]);
});
afterAll(() => gate?.close());
beforeEach(() => {
  gate.node.calls.length = 0;
  gate.node.answer(({ method }) => ({ result: method === 'eth_chainId' ? '0x1' : '0x5' }));
});

const asked = (name: string) => gate.asked(name);
async function call(method: string, params: unknown[], network = 'main', as = gate.key) {
  const { result, error, headers } = await gate.call(network, method, params, as);
  return { result, error, cost: headers['ratelimit-cost'] };
}

it.each(['eth_getBalance', 'eth_getCode', 'eth_getTransactionCount'])(
  '%s without a block is that of the newest',
  async (method) => {
    expect(await call(method, [WHO])).toMatchObject({ result: '0x5', cost: '1' });
    expect(asked(method)).toEqual([[WHO, 'latest']]);
  },
);

it('web3_sha3 and web3_clientVersion are answered here', async () => {
  // Of "hello world", as in EIP-1474.
  expect((await call('web3_sha3', ['0x68656c6c6f20776f726c64'])).result).toBe(
    '0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad',
  );
  expect((await call('web3_sha3', ['0x'])).result).toBe(
    '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  );
  expect((await call('web3_clientVersion', [])).result).toMatch(/^Packhouse\/\d+\.\d+\.\d+$/);
  expect([...asked('web3_sha3'), ...asked('web3_clientVersion')]).toEqual([]);
});

it('eth_estimateGas has the gas cap of eth_call, and its block is left to the node', async () => {
  expect(await call('eth_estimateGas', [{ to: WHO, gas: '0xffffffff' }])).toMatchObject({ cost: '2' });
  await call('eth_estimateGas', [{ to: WHO }, 'pending']);
  expect(asked('eth_estimateGas')).toEqual([[{ to: WHO, gas: '0x2faf080' }], [{ to: WHO }, 'pending']]);
});

it.each<[string, unknown[], string]>([
  ['eth_getBalance', ['0x12'], 'invalid argument 0: hex string has length 2, want 40'],
  ['eth_getBalance', [], 'missing value for required argument 0'],
  ['eth_feeHistory', ['0x401', 'latest'], 'invalid argument 0: 1025 blocks, at most 1024'],
  ['eth_feeHistory', ['0x1'], 'missing value for required argument 1'],
  [
    'eth_feeHistory',
    ['0x1', 'latest', [5, 101]],
    'invalid argument 2: invalid percentile at index 1: expected a number from 0 to 100',
  ],
  ['eth_getProof', [WHO, Array(1_025).fill('0x0')], 'invalid argument 1: 1025 storage keys, at most 1024'],
  ['eth_getProof', [WHO, ['x']], 'invalid argument 1: invalid storage key at index 0'],
  ['eth_gasPrice', [1], 'too many arguments, want at most 0'],
  ['web3_sha3', ['hello'], 'invalid argument 0: hex string without 0x prefix'],
])('%s with %j is refused before a node is asked', async (method, params, message) => {
  const { error } = await call(method, params);
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) });
  expect(asked(method)).toEqual([]);
});

it('a strict network has none of them but what is allowed, which is checked all the same', async () => {
  expect((await call('eth_getBalance', [WHO], 'strict')).error?.code).toBe(-32601);
  expect((await call('eth_getCode', [WHO], 'strict')).result).toBe('0x5');
  expect((await call('eth_getCode', ['0x12'], 'strict')).error?.code).toBe(-32602);
  expect((await call('eth_getBalance', [WHO], 'cell')).error?.code).toBe(-32004);
});

it('a key for other methods may not use them', async () => {
  const { key: limited } = await gate.at.database.keys.create({
    application: 'test',
    network: null,
    plan: 'unlimited',
    expiresAt: null,
    methods: ['eth_getBalance'],
  });
  expect((await call('eth_getBalance', [WHO], 'main', limited)).result).toBe('0x5');
  expect((await call('eth_getCode', [WHO], 'main', limited)).error?.code).toBe(-32001);
});
