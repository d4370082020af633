import { createKeccak256 } from '@packhouse/chain';
import { startAnvil } from '@packhouse/local';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';
import type { ScriptedAnswer } from '../testing/scripted-node.js';

/** The example of EIP-155, and its hash. */
const RAW =
  '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83';
const HASH = '0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788';
const SEND = 'eth_sendRawTransaction';

let gate: ScriptedGateway;
/** What each node says to a transaction, and the result of a look-up. */
let says: (() => ScriptedAnswer | Promise<ScriptedAnswer>)[];
let found: unknown;

const taken = () => ({ result: HASH });
const error =
  (message: string, code = -32_000) =>
  () => ({ error: { code, message } });
const sent = () => gate.nodes.map((node) => gate.asked(SEND, node).length);

beforeAll(async () => {
  gate = await startScriptedGateway(
    [
      `id: main, family: evm, chainId: 1, rpc: {allow: [${SEND}]}`,
      'id: closed, family: evm, chainId: 1',
      'id: cell, family: cell',
    ],
    { nodes: 4 },
  );
});
afterAll(() => gate?.close());
beforeEach(() => {
  says = [taken, taken, taken, taken];
  found = null;
  for (const [at, node] of gate.nodes.entries()) {
    node.calls.length = 0;
    node.answer(({ method }) => {
      if (method === SEND) return (says[at] as () => ScriptedAnswer)();
      if (method === 'eth_getTransactionByHash') return { result: found };
      return { result: method === 'eth_chainId' ? '0x1' : null };
    });
  }
});

describe('a transaction', () => {
  it('goes to three nodes as it was sent, and costs 10', async () => {
    const { result, headers } = await gate.call('main', SEND, [RAW]);
    expect([result, headers['ratelimit-cost']]).toEqual([HASH, '10']);
    await expect.poll(sent).toEqual([1, 1, 1, 0]);
    expect(gate.asked(SEND)).toEqual([[RAW]]);
  });

  it('is answered by the first that takes it, while others have not answered', async () => {
    says = [() => 'hang', error('txpool is full'), taken, taken];
    expect((await gate.call('main', SEND, [RAW])).result).toBe(HASH);
  });

  it('goes to a further node in the place of one that cannot be asked', async () => {
    says = [() => 'reset', () => ({ status: 502, body: '' }), error('nonce too high'), taken];
    expect((await gate.call('main', SEND, [RAW])).result).toBe(HASH);
    expect(sent()).toEqual([1, 1, 1, 1]);
  });

  it('is not taken by a node that names another hash', async () => {
    says = Array(4).fill(() => ({ result: `0x${'ab'.repeat(32)}` }));
    expect(await gate.call('main', SEND, [RAW])).toMatchObject({
      status: 502,
      error: { code: -32603, data: { reason: 'upstream-nonsense' } },
    });
  });

  it.each([
    ['geth, reth and Erigon', 'already known', -32_000],
    ['Erigon', 'INTERNAL_ERROR: existing tx with same hash', -32_000],
    ['Besu', 'Known transaction', -32_000],
    ['Nethermind', 'AlreadyKnown', -32_010],
    ['OpenEthereum', 'Transaction with the same hash was already imported.', -32_010],
    ['Cosmos EVM', 'tx already in mempool', -32_000],
  ])('that the nodes have is taken, as %s says it', async (_, message, code) => {
    says = Array(4).fill(error(message, code));
    expect((await gate.call('main', SEND, [RAW])).result).toBe(HASH);
  });

  it.each(['nonce too low: next nonce 10, tx nonce 9', 'OldNonce', 'Transaction nonce is too low.'])(
    'whose nonce is used is taken only if a node knows it (%s)',
    async (message) => {
      says = Array(4).fill(error(message));
      expect((await gate.call('main', SEND, [RAW])).error).toEqual({ code: -32_000, message });
      found = { hash: HASH };
      expect((await gate.call('main', SEND, [RAW])).result).toBe(HASH);
      expect(gate.nodes.flatMap((node) => gate.asked('eth_getTransactionByHash', node))).toContainEqual([
        HASH,
      ]);
    },
  );

  it('that no node takes gets the error that says most about it, byte for byte', async () => {
    says = [
      error('the method is not available', -32_601),
      error('insufficient funds for gas * price + value: balance 0', -32_003),
      () => 'reset',
      () => 'reset',
    ];
    expect((await gate.call('main', SEND, [RAW])).error).toEqual({
      code: -32_003,
      message: 'insufficient funds for gas * price + value: balance 0',
    });
  });

  it('that a node refuses for what it is does not wait for nodes that never answer', async () => {
    says = [() => 'hang', error('nonce too high'), () => 'hang', taken];
    expect((await gate.call('main', SEND, [RAW])).error?.message).toBe('nonce too high');
  });

  it('with blobs has the hash of its payload', async () => {
    const payload = Buffer.from('c3010203', 'hex');
    const blobs = Buffer.concat([
      Buffer.from('f83b', 'hex'),
      payload,
      Buffer.from('b6', 'hex'),
      Buffer.alloc(54),
    ]);
    const whole = Buffer.concat([Buffer.from('03f83b', 'hex'), blobs.subarray(2)]);
    const keccak = await createKeccak256();
    const hash = `0x${Buffer.from(keccak.hash(Buffer.concat([Buffer.from([3]), payload]))).toString('hex')}`;
    says = Array(4).fill(error('already known'));
    for (const raw of [whole, Buffer.concat([Buffer.from([3]), payload])]) {
      expect((await gate.call('main', SEND, [`0x${raw.toString('hex')}`])).result).toBe(hash);
    }
  });

  it('of a type that is not known here has the hash that the node names', async () => {
    says = [() => ({ result: `0x${'cd'.repeat(32)}` }), ...Array(3).fill(error('already known'))];
    expect((await gate.call('main', SEND, ['0x71c0'])).result).toBe(`0x${'cd'.repeat(32)}`);
    says = Array(4).fill(error('already known'));
    expect((await gate.call('main', SEND, ['0x71c0'])).error?.message).toBe('already known');
  });
});

it.each<[string, unknown[], string]>([
  ['nothing', [], 'missing value for required argument 0'],
  ['an object', [{}], 'invalid argument 0: expected a hex string, got object'],
  ['no bytes', ['0x'], 'invalid argument 0: an empty transaction'],
  ['half a byte', ['0xf86'], 'invalid argument 0: hex string of odd length'],
  ['a string in RLP', ['0x80'], 'invalid argument 0: a transaction cannot begin with the byte 0x80'],
  [
    'too many bytes',
    [`0x02${'00'.repeat(131_072)}`],
    'invalid argument 0: oversized data: a transaction of 131073 bytes, at most 131072',
  ],
])('%s instead of a transaction is refused before a node is asked', async (_, params, message) => {
  expect((await gate.call('main', SEND, params)).error).toMatchObject({ code: -32602, message });
  expect(sent()).toEqual([0, 0, 0, 0]);
});

it('it is offered only where the networks file allows it', async () => {
  expect((await gate.call('closed', SEND, [RAW])).error?.code).toBe(-32601);
  expect((await gate.call('cell', SEND, [RAW])).error?.code).toBe(-32004);
});

it('a real node takes it, and has it when it comes again and when it is mined', async () => {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  try {
    const onNode = async (method: string, params: unknown[]): Promise<unknown> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const headers = { 'content-type': 'application/json' };
      return (await ask(anvil.url, '/', { method: 'POST', body, headers })).json().result;
    };
    const [from] = (await onNode('eth_accounts', [])) as string[];
    const fields = { from, to: from, value: '0x1', gas: '0x5208', nonce: '0x0', gasPrice: '0x77359400' };
    const raw = (await onNode('eth_signTransaction', [fields])) as string;
    for (const node of gate.nodes) {
      node.answer(async ({ method, params }) => {
        if (method === 'eth_chainId') return { result: '0x1' };
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
        const headers = { 'content-type': 'application/json' };
        return { status: 200, body: (await ask(anvil.url, '/', { method: 'POST', body, headers })).text };
      });
    }
    const { result } = await gate.call('main', SEND, [raw]);
    expect(await onNode('eth_getTransactionByHash', [result])).toMatchObject({ from, value: '0x1' });
    expect((await gate.call('main', SEND, [raw])).result).toBe(result);
    await onNode('anvil_mine', ['0x1']);
    expect((await gate.call('main', SEND, [raw])).result).toBe(result);
  } finally {
    await anvil.stop();
  }
});
