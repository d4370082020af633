import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';
import type { ScriptedNode } from '../testing/scripted-node.js';
import type { TestGateway } from '../testing/test-gateway.js';

let gate: ScriptedGateway;
let node: ScriptedNode;
let at: TestGateway;
let key: string;

beforeAll(async () => {
  gate = await startScriptedGateway([
    'id: core, family: core, chainId: 1029',
    'id: capped, family: core, chainId: 1029, rpc: {logLimit: 3}',
    'id: cell, family: cell',
    'id: hasty, family: cell, rpc: {timeoutMs: 800}',
    'id: names, family: registry',
  ]);
  ({ node, at, key } = gate);
});
afterAll(() => gate?.close());
beforeEach(() => {
  node.calls.length = 0;
});

/** Upstream calls of client requests, without the gateway's own watching of heads and chains. */
const asked = () => node.calls.filter(({ method }) => !/epochNumber|getStatus|tip_block/.test(method));

const call = (network: string, method: string, params: unknown[]) =>
  gate.call(network, method, params, network === 'names' ? null : key);

describe('core_getLogs', () => {
  const ADDRESS = 'cfx:aarc9abycue0hhzgyrr53m6cxedgccrmmyybjgh4xg';
  const HASH = `0x${'ab'.repeat(32)}`;
  const logs = Array.from({ length: 10 }, (_, n) => ({ logIndex: `0x${n.toString(16)}` }));

  beforeEach(() => node.answer(() => ({ result: logs })));

  it('goes to the node under its own name, with bounds where there are none', async () => {
    expect(
      (await call('core', 'core_getLogs', [{ address: [ADDRESS], topics: [null, [HASH, HASH]] }])).result,
    ).toEqual(logs);
    expect((await call('core', 'cfx_getLogs', [{}])).result).toEqual(logs);
    expect(asked()).toMatchObject([
      {
        method: 'cfx_getLogs',
        params: [
          {
            fromEpoch: 'latest_checkpoint',
            toEpoch: 'latest_state',
            address: [ADDRESS],
            topics: [null, [HASH, HASH]],
          },
        ],
      },
      { method: 'cfx_getLogs' },
    ]);
  });

  it.each(['latest_finalized', 'latest_mined'])('takes the epoch %s', async (epoch) => {
    expect((await call('core', 'core_getLogs', [{ fromEpoch: '0x1', toEpoch: epoch }])).result).toEqual(logs);
    expect(asked()[0]?.params).toEqual([{ fromEpoch: '0x1', toEpoch: epoch }]);
  });

  it('sends no epochs where block hashes are given', async () => {
    await call('core', 'core_getLogs', [{ fromEpoch: '0x1', toEpoch: '0x2', blockHashes: [HASH] }]);
    expect(asked()[0]?.params).toEqual([{ blockHashes: [HASH] }]);
  });

  it.each([
    [{ offset: '0x1', limit: '0x5' }, [4, 5, 6, 7, 8]],
    [{ limit: '0x3' }, [7, 8, 9]],
    [{ offset: '0x8' }, [0, 1]],
    [{ offset: '0x20', limit: '0x5' }, []],
    [{ limit: '0x0' }, []],
  ])('applies %j itself', async (filter, left) => {
    expect((await call('core', 'core_getLogs', [filter])).result).toEqual(left.map((n) => logs[n]));
    expect(asked()[0]?.params[0]).not.toHaveProperty('limit');
    expect(asked()[0]?.params[0]).not.toHaveProperty('offset');
  });

  it('a configured maximum takes the place of a missing or larger limit', async () => {
    for (const [limit, left] of [
      [undefined, 3],
      ['0x9', 3],
      ['0x2', 2],
    ] as const) {
      const { result } = await call('capped', 'core_getLogs', [{ limit }]);
      expect(result).toEqual(logs.slice(-left));
    }
  });

  it.each([
    [{ blockHashes: Array(129).fill(HASH) }, /blockHashes: 129 given, at most 128/],
    [{ topics: [null, null, null, null, null] }, /topics: 5 given, at most 4/],
    [
      { address: [`${ADDRESS.replace('g4', '44').slice(0, -1)}a`] },
      /address: invalid at index 0: the checksum/,
    ],
    [{ address: ['cfxtest:aarc9abycue0hhzgyrr53m6cxedgccrmmy8m50bu1p'] }, /network cfxtest, expected cfx/],
    [{ address: ['0x1a2f80341409639ea6a35bbcab8299066109aa55'] }, /expected a base32 address/],
    [{ fromEpoch: 'latest' }, /fromEpoch: .* expected a number or one of/],
    [{ limit: 5 }, /limit: expected a hex string/],
    [{ other: 1 }, /unknown field/],
    [[], /expected a filter object/],
  ])('refuses %j by name, without asking a node', async (filter, message) => {
    const { error } = await call('core', 'core_getLogs', [filter]);
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
    expect(asked()).toEqual([]);
  });
});

describe('send_transaction', () => {
  const HASH = `0x${'cd'.repeat(32)}`;
  const script = { code_hash: HASH, hash_type: 'type', args: '0x' };
  const transaction = {
    cell_deps: [{ dep_type: 'code', out_point: { index: '0x0', tx_hash: HASH } }],
    header_deps: [HASH],
    inputs: [{ previous_output: { index: '0x0', tx_hash: HASH }, since: '0x0' }],
    outputs: [{ capacity: '0x2540be400', lock: script, type: null }],
    outputs_data: ['0x'],
    version: '0x0',
    witnesses: [],
  };

  it('is sent with the validator that was asked for, or the default', async () => {
    node.answer(() => ({ result: HASH }));
    expect((await call('cell', 'send_transaction', [transaction])).result).toBe(HASH);
    await call('cell', 'send_transaction', [transaction, 'passthrough']);
    expect(asked().map(({ params }) => params)).toEqual([
      [transaction, 'well_known_scripts_only'],
      [transaction, 'passthrough'],
    ]);
  });

  it('may leave out the type of an output, and names any version of the virtual machine', async () => {
    node.answer(() => ({ result: HASH }));
    for (const hash_type of ['data', 'data1', 'data2', 'data9', 'data127']) {
      const outputs = [{ capacity: '0x1', lock: { ...script, hash_type } }];
      expect((await call('cell', 'send_transaction', [{ ...transaction, outputs }])).result).toBe(HASH);
      expect(asked().at(-1)?.params).toMatchObject([{ outputs }, 'well_known_scripts_only']);
    }
    for (const hash_type of ['data0', 'data128', 'data01', 'type1']) {
      const outputs = [{ capacity: '0x1', lock: { ...script, hash_type } }];
      expect((await call('cell', 'send_transaction', [{ ...transaction, outputs }])).error?.code).toBe(
        -32602,
      );
    }
  });

  it('counts as taken where a node broke off and then has it already', async () => {
    let tries = 0;
    node.answer(({ method }) => {
      if (method !== 'send_transaction') return 'reset';
      tries += 1;
      if (tries === 1) return 'reset';
      return {
        error: {
          code: -1107,
          message: `PoolRejectedDuplicatedTransaction: Transaction(Byte32(${HASH})) already exists in transaction_pool`,
        },
      };
    });
    expect(await call('cell', 'send_transaction', [transaction])).toMatchObject({ result: HASH });
    expect(tries).toBe(2);
  });

  const taken = {
    error: {
      code: -1107,
      message: `PoolRejectedDuplicatedTransaction: Transaction(Byte32(${HASH})) already exists in transaction_pool`,
    },
  };

  it('counts as taken where the other node has it already, once the first broke off', async () => {
    const two = await startScriptedGateway(['id: cell, family: cell'], { nodes: 2 });
    const [first, second] = two.nodes as [ScriptedNode, ScriptedNode];
    let broke = false;
    first.answer(({ method }) => {
      if (method !== 'send_transaction') return { error: { code: -1, message: 'no' } };
      broke = true;
      // From here on nothing listens there.
      void first.close();
      return 'reset';
    });
    second.answer(() => taken);
    try {
      expect(await two.call('cell', 'send_transaction', [transaction])).toMatchObject({ result: HASH });
      expect(two.asked('send_transaction', second)).toHaveLength(1);
      expect(broke).toBe(true);
    } finally {
      await two.close();
    }
  });

  it.each([
    ['message', taken],
    ['data', { error: { code: -1107, message: 'is there', data: `Duplicated(Byte32(${HASH}))` } }],
  ])('counts as taken where the node did not answer in time and then names it in its %s', async (_, said) => {
    let tries = 0;
    node.answer(({ method }) => {
      if (method !== 'send_transaction') return 'reset';
      tries += 1;
      return tries === 1 ? 'hang' : said;
    });
    expect(await call('hasty', 'send_transaction', [transaction])).toMatchObject({ result: HASH });
    expect(tries).toBe(2);
  });

  it('gets the words of a node that has it and does not say which it is', async () => {
    let tries = 0;
    const error = { code: -1107, message: 'is there' };
    node.answer(({ method }) => {
      if (method !== 'send_transaction') return 'reset';
      tries += 1;
      return tries === 1 ? 'reset' : { error };
    });
    expect((await call('cell', 'send_transaction', [transaction])).error).toEqual(error);
    expect(tries).toBe(2);
  });

  it.each([-301, -302, -1102, -1107])('is not sent again after the node said %i', async (code) => {
    node.answer(() => ({ error: { code, message: 'no' } }));
    expect((await call('cell', 'send_transaction', [transaction])).error).toEqual({ code, message: 'no' });
    expect(asked()).toHaveLength(1);
  });

  it.each([
    [
      [{ ...transaction, inputs: [{ since: '0x0' }] }],
      /transaction\.inputs\[0\]\.previous_output: is missing/,
    ],
    [
      [{ ...transaction, outputs: [{ capacity: '0x1', lock: { ...script, hash_type: 'x' }, type: null }] }],
      /outputs\[0\]\.lock\.hash_type: expected one of/,
    ],
    [[{ ...transaction, outputs_data: [] }], /outputs_data: 0 items for 1 outputs/],
    [[{ ...transaction, version: '0x00' }], /version: hex number with leading zero/],
    [[transaction, 'anything'], /argument 1: expected one of well_known_scripts_only, passthrough/],
    [[], /missing value for required argument 0/],
  ])('is refused by name where its shape is wrong', async (params, message) => {
    const { error } = await call('cell', 'send_transaction', params);
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(message) });
    expect(asked()).toEqual([]);
  });
});

it('get_consensus is asked for once a minute', async () => {
  node.answer(() => ({ result: { id: 'ckb', hardfork_features: [] } }));
  const ten = await Promise.all(Array.from({ length: 10 }, () => call('cell', 'get_consensus', [])));
  expect(ten.every(({ result }) => (result as { id: string }).id === 'ckb')).toBe(true);
  expect(asked()).toHaveLength(1);
  at.time.offset += 60_000;
  await call('cell', 'get_consensus', []);
  expect(asked()).toHaveLength(2);
});

describe('registry_accountList', () => {
  const lookup = { type: 'blockchain', key_info: { coin_type: '60', chain_id: '1', key: '0x00' } };

  it('needs no key, reads either spelling and fills in aliases', async () => {
    node.answer(() => ({
      result: {
        err_no: 0,
        err_msg: '',
        data: {
          account_list: [
            { account: 'b.a.bit' },
            { account: 'a.bit' },
            { account: 'x.bit', account_alias: 'y' },
          ],
        },
      },
    }));
    expect((await call('names', 'registry_accountList', [lookup])).result).toEqual({
      errno: 0,
      errmsg: '',
      data: {
        account_list: [
          { account: 'b.a.bit', account_alias: 'a#b.bit' },
          { account: 'a.bit', account_alias: 'a.bit' },
          { account: 'x.bit', account_alias: 'y' },
        ],
      },
    });
    expect(asked()[0]).toMatchObject({ method: 'das_accountList', params: [lookup] });
  });

  it('keeps the total', async () => {
    node.answer(() => ({ result: { errno: 0, errmsg: '', data: { total: 2, account_list: [] } } }));
    expect((await call('names', 'registry_accountList', [lookup])).result).toEqual({
      errno: 0,
      errmsg: '',
      data: { total: 2, account_list: [] },
    });
  });

  it('hands on the registry’s own errors inside the result', async () => {
    node.answer(() => ({ result: { errno: 30003, errmsg: 'account not exist', data: null } }));
    expect((await call('names', 'das_accountList', [lookup])).result).toEqual({
      errno: 30003,
      errmsg: 'account not exist',
      data: { account_list: [] },
    });
  });

  it('says so where the registry speaks nonsense', async () => {
    node.answer(() => ({ result: 'x' }));
    expect((await call('names', 'registry_accountList', [lookup])).error?.code).toBe(-32603);
  });
});
