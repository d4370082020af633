import { getIdentityRequest, type UpstreamClient } from '@packhouse/node-rpc';
import type { Chart } from './chart.js';
import { checkMethods, type Question } from './check-methods.js';
import { reach } from './reach.js';
import { getHeader } from './read-values.js';

const ZERO_ADDRESS = `0x${'00'.repeat(20)}`;
const ZERO_HASH = `0x${'00'.repeat(32)}`;
/** Sizes of batches to try, the largest first. */
const BATCHES = [100, 20, 5];
/** Methods without which nothing can be served. */
const MUST = ['eth_getBlockByNumber', 'eth_getLogs'];

/** Methods that the gateway forwards on EVM networks, whatever their profile; it implements filters itself. */
const questions = (hash: string): Question[] => [
  ['eth_blockNumber', []],
  ['eth_chainId', []],
  ['net_version', []],
  ['eth_getBlockByNumber', ['latest', false]],
  ['eth_getBlockByHash', [hash, false]],
  ['eth_getBlockReceipts', ['latest']],
  ['eth_getTransactionByHash', [ZERO_HASH]],
  ['eth_getTransactionByBlockNumberAndIndex', ['latest', '0x0']],
  ['eth_getTransactionByBlockHashAndIndex', [hash, '0x0']],
  ['eth_getTransactionReceipt', [ZERO_HASH]],
  ['eth_getStorageAt', [ZERO_ADDRESS, '0x0', 'latest']],
  ['eth_call', [{ to: ZERO_ADDRESS }, 'latest']],
  ['eth_getLogs', [{ fromBlock: 'latest', toBlock: 'latest', address: ZERO_ADDRESS }]],
];

/** Forwarded methods unless the profile is strict. */
const walletQuestions = (hash: string): Question[] => [
  ['eth_getBalance', [ZERO_ADDRESS, 'latest']],
  ['eth_getCode', [ZERO_ADDRESS, 'latest']],
  ['eth_getTransactionCount', [ZERO_ADDRESS, 'latest']],
  ['eth_getProof', [ZERO_ADDRESS, [], 'latest']],
  ['eth_gasPrice', []],
  ['eth_maxPriorityFeePerGas', []],
  ['eth_blobBaseFee', []],
  ['eth_feeHistory', ['0x1', 'latest', []]],
  ['eth_estimateGas', [{ to: ZERO_ADDRESS }]],
  ['eth_syncing', []],
  ['eth_getBlockTransactionCountByHash', [hash]],
  ['eth_getBlockTransactionCountByNumber', ['latest']],
  ['eth_getUncleCountByBlockHash', [hash]],
  ['eth_getUncleCountByBlockNumber', ['latest']],
];

/** Harmless: every node that has the method refuses a transaction of no bytes. */
const SEND: Question = ['eth_sendRawTransaction', ['0x']];

/** The methods of a network by its profile and by `rpc.allow`. */
function offered({ rpc }: Chart['network'], hash: string): Question[] {
  const wallet = walletQuestions(hash).filter(
    ([method]) => rpc.profile !== 'strict' || rpc.allow.includes(method),
  );
  return [...questions(hash), ...wallet, ...(rpc.allow.includes(SEND[0]) ? [SEND] : [])];
}

/** Checks an upstream of an EVM network by itself, except for the proof of a block. */
export async function checkEvm(chart: Chart, ask: UpstreamClient): Promise<void> {
  if (!(await reach(chart, ask, ['eth_chainId', []]))) return;
  await checkChain(chart, ask);
  const latest = getHeader(await ask.call('eth_getBlockByNumber', ['latest', false]));
  chart.head = latest?.number ?? null;
  if (latest === null) {
    chart.usable = false;
    chart.find(
      { column: 'behind', level: 'fail', text: 'no head' },
      'It does not return its newest block.',
      'Check that it is synced, and not only a relay for transactions.',
    );
  }
  await Promise.all([
    checkMethods(chart, ask, offered(chart.network, latest?.hash ?? ZERO_HASH), MUST),
    checkFinal(chart, ask),
    checkSyncing(chart, ask),
    checkBatch(chart, ask),
    checkClient(chart, ask),
  ]);
}

async function checkChain(chart: Chart, ask: UpstreamClient): Promise<void> {
  const answer = await ask.call('eth_chainId', []);
  const chainId =
    answer.kind === 'result' ? (getIdentityRequest(chart.network)?.read(answer.value) ?? null) : null;
  const expected = chart.network.chainId;
  if (chainId === expected) {
    chart.set('chain', 'ok', String(chainId));
    return;
  }
  chart.usable = false;
  chart.find(
    { column: 'chain', level: 'fail', text: chainId === null ? 'unknown' : String(chainId) },
    chainId === null
      ? 'It does not return its chain id.'
      : `It serves chain ${chainId}, but the network is chain ${expected}.`,
    'Use the URL of a node of this network, or correct chainId.',
  );
}

async function checkFinal(chart: Chart, ask: UpstreamClient): Promise<void> {
  const { tag, depth } = chart.network.finality;
  const byDepth = chart.head === null ? null : Math.max(0, chart.head - depth);
  if (!tag) {
    chart.finalized = byDepth;
    chart.set('finalized', 'ok', `head - ${depth}`);
    return;
  }
  const finalized = getHeader(await ask.call('eth_getBlockByNumber', ['finalized', false]));
  chart.finalized = finalized?.number ?? byDepth;
  if (finalized !== null) {
    chart.set('finalized', 'ok', String(finalized.number));
    return;
  }
  chart.find(
    { column: 'finalized', level: 'warn', text: `head - ${depth}` },
    `It does not support the finalized tag: blocks count as finalized ${depth} blocks behind its head.`,
    'Use a node that supports the tag, or set finality.tag to false and finality.depth for this chain.',
  );
}

async function checkSyncing(chart: Chart, ask: UpstreamClient): Promise<void> {
  const answer = await ask.call('eth_syncing', []);
  if (answer.kind !== 'result' || typeof answer.value !== 'object' || answer.value === null) return;
  chart.find(
    { column: 'behind', level: 'warn', text: 'syncing' },
    'It is still syncing.',
    'Wait until it has caught up. Until then, new blocks come from other upstreams.',
  );
}

async function checkBatch(chart: Chart, ask: UpstreamClient): Promise<void> {
  const most = chart.upstream.requestsPerSecond ?? Number.POSITIVE_INFINITY;
  for (const size of BATCHES.filter((size, at) => size <= most || at === BATCHES.length - 1)) {
    if ((await ask.batch(size, 'eth_chainId')) !== size) continue;
    chart.set('batch', 'ok', size === BATCHES[0] ? `${size}+` : String(size));
    return;
  }
  if (!chart.network.bundles.enabled) {
    chart.set('batch', 'ok', 'no');
    return;
  }
  chart.find(
    { column: 'batch', level: 'warn', text: 'no' },
    `It does not support batches of ${BATCHES.at(-1)}: blocks are fetched one request at a time.`,
    'Raise its batch limit, if it is your node.',
  );
}

async function checkClient(chart: Chart, ask: UpstreamClient): Promise<void> {
  const answer = await ask.call('web3_clientVersion', []);
  if (answer.kind !== 'result' || typeof answer.value !== 'string') return;
  chart.set('client', 'ok', chart.label.quote(answer.value).slice(0, 40));
}
