import { METHODS_OF_FAMILY, WALLET_METHODS } from '@packhouse/networks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';

interface Listed {
  name: string;
  aliases: string[];
  cost: number;
  family: string | null;
}

let gate: ScriptedGateway;

beforeAll(async () => {
  gate = await startScriptedGateway([
    'id: main, family: evm, chainId: 1, rpc: {allow: [eth_sendRawTransaction, debug_traceTransaction], deny: [eth_call]}',
    'id: core, family: core, chainId: 1029',
    'id: names, family: registry',
  ]);
});
afterAll(() => gate?.close());

async function list(path: string) {
  const { status, headers, json } = await ask(gate.at.url, path);
  return { status, headers, ...(json() as { methods: Listed[]; reason?: string }) };
}

describe('GET of a JSON-RPC address', () => {
  it('lists the methods of the network, and nothing that the operator denies', async () => {
    const { status, headers, methods, ...more } = await list(`/main/v1/${gate.key}`);
    expect([status, headers['ratelimit-cost'], more]).toEqual([
      200,
      '1',
      { network: 'main', family: 'evm', chain_id: 1 },
    ]);
    const names = [
      ...METHODS_OF_FAMILY.evm,
      ...WALLET_METHODS,
      'eth_sendRawTransaction',
      'debug_traceTransaction',
    ];
    expect(methods.map(({ name }) => name)).toEqual(names.filter((name) => name !== 'eth_call').sort());
    expect(methods).toContainEqual({ name: 'eth_sendRawTransaction', aliases: [], cost: 10, family: 'evm' });
    expect(methods).toContainEqual({ name: 'debug_traceTransaction', aliases: [], cost: 1, family: null });
  });

  it('names other spellings', async () => {
    expect((await list(`/core/v1/${gate.key}`)).methods).toEqual([
      { name: 'core_getLogs', aliases: ['cfx_getLogs'], cost: 5, family: 'core' },
    ]);
  });

  it('lists to a restricted key what it may call', async () => {
    const make = async (methods: string[]): Promise<string> => {
      const wish = { application: 'test', network: null, plan: 'unlimited', expiresAt: null, methods };
      return (await gate.at.database.keys.create(wish)).key;
    };
    const names = async (network: string, key: string): Promise<string[]> =>
      (await list(`/${network}/v1/${key}`)).methods.map(({ name }) => name);
    expect(await names('main', await make(['eth_chainId', 'eth_call', 'download']))).toEqual(['eth_chainId']);
    expect(await names('core', await make(['cfx_getLogs']))).toEqual(['core_getLogs']);
    expect(await names('core', await make(['eth_chainId']))).toEqual([]);
  });

  it('needs a key where calls do, with and without a slash', async () => {
    for (const path of ['/main/v1', '/main/v1/', `/main/v1/ph_abcdefgh_${'A'.repeat(43)}`]) {
      expect(await list(path)).toMatchObject({ status: 401, reason: 'unauthenticated' });
    }
    const { key } = await gate.at.makeKey('unlimited', 'core');
    expect(await list(`/main/v1/${key}`)).toMatchObject({ status: 403, reason: 'forbidden' });
    for (const path of ['/names/v1', '/names/v1/', `/names/v1/${gate.key}`]) {
      expect((await list(path)).methods).toMatchObject([{ name: 'registry_accountList' }]);
    }
  });

  it('is what openapi.json lists of each network', async () => {
    const document = (await ask(gate.at.url, '/openapi.json')).json();
    expect(document['x-json-rpc-methods']).toEqual([
      { network: 'main', methods: (await list(`/main/v1/${gate.key}`)).methods },
      { network: 'core', methods: (await list(`/core/v1/${gate.key}`)).methods },
      { network: 'names', methods: (await list('/names/v1')).methods },
    ]);
  });
});

describe('the refusal of a method', () => {
  it.each([
    ['eth_foo', 'it is not enabled on network main; the operator can allow it with rpc.allow'],
    ['eth_call', 'it is not enabled on network main; the operator can allow it with rpc.allow'],
    ['eth_subscribe', 'Packhouse does not support it'],
    ['1foo', 'Packhouse does not support it'],
  ])('says of %s who could offer it', async (method, because) => {
    expect((await gate.call('main', method, [])).error).toMatchObject({
      code: -32601,
      message: `The method ${method} does not exist or is not available: ${because}`,
    });
  });
});
