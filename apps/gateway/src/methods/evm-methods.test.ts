import { startAnvil } from '@packhouse/local';
import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../testing/ask.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

let anvil: Awaited<ReturnType<typeof startAnvil>>;
let at: TestGateway;
let key: string;
/** The values of the names in the parameters below. */
const facts = { from: '', contract: '', hash: '', blockHash: '', block: '' };

const HEADERS = { 'content-type': 'application/json' };
const toBody = (method: string, params?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const node = (body: string) => ask(anvil.url, '/', { method: 'POST', body, headers: HEADERS });
const gateway = (body: string, network = 'main') =>
  ask(at.url, `/${network}/v1/${key}`, { method: 'POST', body, headers: HEADERS });
async function onNode<T>(method: string, params: unknown[] = []): Promise<T> {
  return (await node(toBody(method, params))).json().result as T;
}

beforeAll(async () => {
  anvil = await startAnvil({ args: ['--no-mining'] });
  [facts.from] = (await onNode<[string]>('eth_accounts')) as [string];
  const send = async (transaction: object): Promise<string> => {
    const sent = await onNode<string>('eth_sendTransaction', [
      { from: facts.from, gas: '0x186a0', ...transaction },
    ]);
    await onNode('anvil_mine', ['0x1']);
    return sent;
  };
  // Runtime: a log whose topic is the call data. Init code: returns it.
  const made = await send({ data: '0x6860003560006000a10060005260096017f3' });
  facts.contract = (
    await onNode<{ contractAddress: string }>('eth_getTransactionReceipt', [made])
  ).contractAddress;
  facts.hash = await send({ to: facts.contract, data: `0x${'5'.repeat(64)}` });
  await onNode('anvil_mine', ['0x3']);
  const receipt = await onNode<{ blockHash: string; blockNumber: string }>('eth_getTransactionReceipt', [
    facts.hash,
  ]);
  [facts.blockHash, facts.block] = [receipt.blockHash, receipt.blockNumber];
  // A pending transaction.
  await onNode('eth_sendTransaction', [{ from: facts.from, to: facts.contract, gas: '0x186a0' }]);
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 31337, pollIntervalMs: 100, upstreams: [{url: '${anvil.url}'}]}
  - {id: proved, family: evm, chainId: 31337, pollIntervalMs: 100, rpc: {integrity: full}, upstreams: [{url: '${anvil.url}'}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  key = (await at.makeKey()).key;
});
afterAll(async () => {
  await at?.close();
  await anvil?.stop();
});

/** What the node and `ask` answer while the node does not change: a pending block has the second in which it is asked for. */
async function atOneTime(body: string, ask: () => ReturnType<typeof gateway>) {
  for (;;) {
    const [before, through, after] = [await node(body), await ask(), await node(body)];
    if (before.text === after.text) return [before, through] as const;
  }
}

/** Parameters, with names in place of values that are only known at run time. */
function filled(params: unknown): unknown {
  const text = JSON.stringify(params)?.replace(
    /"\$(\w+)"/g,
    (_, name: keyof typeof facts) => `"${facts[name]}"`,
  );
  return text === undefined ? undefined : JSON.parse(text);
}

const NOTHING = `0x${'0'.repeat(64)}`;
const TOPIC = `0x${'5'.repeat(64)}`;
const CALL = { to: '$contract', data: TOPIC };

describe('the answer of the node, byte for byte, to', () => {
  it.each<[string, unknown]>([
    ['eth_blockNumber', undefined],
    ['eth_blockNumber', []],
    ['eth_chainId', undefined],
    ['net_version', []],
    ...['$block', 'latest', 'earliest', 'pending', 'safe', 'finalized', '0xffffff'].flatMap(
      (block): [string, unknown][] => [
        ['eth_getBlockByNumber', [block, true]],
        ['eth_getBlockByNumber', [block, false]],
      ],
    ),
    ['eth_getBlockByHash', ['$blockHash', true]],
    ['eth_getBlockByHash', ['$blockHash', false]],
    ['eth_getBlockByHash', [NOTHING, false]],
    ['eth_getBlockReceipts', ['$block']],
    ['eth_getBlockReceipts', ['latest']],
    ['eth_getBlockReceipts', ['$blockHash']],
    ['eth_getTransactionByHash', ['$hash']],
    ['eth_getTransactionByHash', [NOTHING]],
    ['eth_getTransactionByBlockNumberAndIndex', ['$block', '0x0']],
    ['eth_getTransactionByBlockNumberAndIndex', ['$block', '0x5']],
    ['eth_getTransactionByBlockNumberAndIndex', ['latest', '0x0']],
    ['eth_getTransactionByBlockHashAndIndex', ['$blockHash', '0x0']],
    ['eth_getTransactionByBlockHashAndIndex', [NOTHING, '0x0']],
    ['eth_getTransactionReceipt', ['$hash']],
    ['eth_getTransactionReceipt', [NOTHING]],
    ['eth_getStorageAt', ['$contract', '0x0', 'latest']],
    ['eth_getStorageAt', ['$contract', NOTHING, '$block']],
    ['eth_getStorageAt', ['$contract', '0x0', '$blockHash']],
    ['eth_call', [CALL, 'latest']],
    ['eth_call', [CALL]],
    ['eth_call', [CALL, '$blockHash']],
    ['eth_call', [{ to: '$contract', input: TOPIC }, '$block']],
    ['eth_call', [{ to: '$contract', data: TOPIC, input: TOPIC }, 'latest']],
    [
      'eth_call',
      [{ from: '$from', to: '$contract', gas: '0x100000', value: '0x0' }, { blockHash: '$blockHash' }],
    ],
    ['eth_estimateGas', [CALL]],
    ['eth_estimateGas', [CALL, 'latest']],
    ['eth_getBalance', ['$from', 'latest']],
    ['eth_getBalance', ['$from', '$block']],
    ['eth_getCode', ['$contract', '$blockHash']],
    ['eth_getTransactionCount', ['$from', 'pending']],
    ['eth_getProof', ['$contract', ['0x0', NOTHING], 'latest']],
    ['eth_gasPrice', []],
    ['eth_maxPriorityFeePerGas', []],
    ['eth_blobBaseFee', []],
    ['eth_feeHistory', ['0x2', 'latest', [25, 75]]],
    ['eth_feeHistory', ['0x2', '$block']],
    ['eth_syncing', []],
    ['eth_getBlockTransactionCountByHash', ['$blockHash']],
    ['eth_getBlockTransactionCountByNumber', ['$block']],
    ['eth_getUncleCountByBlockHash', ['$blockHash']],
    ['eth_getUncleCountByBlockNumber', ['$block']],
    // A revert: a jump to nowhere, as init code.
    ['eth_call', [{ from: '$from', data: '0x60006000fd' }, 'latest']],
    ['eth_getLogs', [{}]],
    ['eth_getLogs', [{ fromBlock: '0x0' }]],
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]],
    ['eth_getLogs', [{ fromBlock: 'earliest', toBlock: '$block' }]],
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x3', address: null, topics: null }]],
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x3', address: '$contract', topics: [] }]],
    [
      'eth_getLogs',
      [{ fromBlock: '0x0', toBlock: '0x3', address: ['$contract', '$from'], topics: [[TOPIC, NOTHING]] }],
    ],
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x3', topics: [null] }]],
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x3', topics: [NOTHING] }]],
    ['eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x3', topics: [TOPIC, null] }]],
    ['eth_getLogs', [{ blockHash: '$blockHash' }]],
  ])('%s %j', async (method, params) => {
    const body = toBody(method, filled(params));
    // Once more, from memory if it is kept; and a true answer passes its proof.
    for (const network of ['main', 'main', 'proved']) {
      const [direct, through] = await atOneTime(body, () => gateway(body, network));
      expect(through.text).toBe(direct.text);
      expect(through.status).toBe(200);
    }
  });
});

it('eth_getStorageAt without a block is that of the newest, which not every node knows by itself', async () => {
  const [short, long] = [
    ['$contract', '0x0'],
    ['$contract', '0x0', 'latest'],
  ];
  const direct = await node(toBody('eth_getStorageAt', filled(long)));
  for (const params of [short, long, [...short, null]]) {
    expect((await gateway(toBody('eth_getStorageAt', filled(params)))).text).toBe(direct.text);
  }
});

it('a batch is what each call gets alone', async () => {
  const bodies = [
    toBody('eth_chainId'),
    toBody('eth_getBlockByNumber', ['0x1', true]),
    toBody('eth_getLogs', [{ fromBlock: '0x0' }]),
  ];
  const alone = await Promise.all(bodies.map(async (body) => (await gateway(body)).text));
  expect((await gateway(`[${bodies.join()}]`)).text).toBe(`[${alone.join()}]`);
});
