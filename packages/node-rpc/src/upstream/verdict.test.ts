import { describe, expect, it } from 'vitest';
import { ERROR_ROWS } from './error-rows.js';
import { type Meaning, SOCKET_ROWS, STATUS_ROWS } from './meanings.js';
import { judgeError, judgeSocket, judgeStatus } from './verdict.js';

type Subject = Parameters<typeof judgeError>[3];

const call: Subject = { method: 'eth_call', family: 'evm', calls: 1 };
const logs: Subject = { ...call, method: 'eth_getLogs' };
const send: Subject = { ...call, method: 'eth_sendRawTransaction' };
const core: Subject = { ...call, method: 'cfx_call', family: 'core' };
const coreLogs: Subject = { ...core, method: 'cfx_getLogs' };
const batch: Subject = { ...call, method: 'eth_getBlockByNumber', calls: 16 };

const SENTENCES: readonly (readonly [code: number, message: string, meaning: Meaning, subject?: Subject])[] =
  [
    // Errors that every node would return.
    [3, 'execution reverted: rate limit exceeded', 'callers-fault'],
    [-32000, 'Execution reverted: not synced', 'callers-fault'],
    [-32000, 'VM Exception while processing transaction: revert', 'callers-fault'],
    [-32015, 'VM execution error.', 'callers-fault'],
    [-32016, 'Transaction reverted', 'callers-fault', core],
    [-32016, 'Execution failed', 'callers-fault', core],
    [-32000, 'insufficient funds for gas * price + value', 'callers-fault'],
    [-32000, 'nonce too low: next nonce 5, tx nonce 4', 'callers-fault', send],
    [-32000, 'replacement transaction underpriced', 'callers-fault', send],
    [-32000, 'oversized data: transaction size 200000, limit 131072', 'callers-fault', send],
    [-32000, 'gas required exceeds allowance (30000000)', 'callers-fault'],
    [-32000, 'exceeds block gas limit', 'callers-fault', send],
    [-32007, 'Sender account not authorized to send transactions', 'callers-fault', send],
    [-32001, 'Nonce too low', 'callers-fault', send],
    [-32003, 'transaction rejected', 'callers-fault', send],
    [-32004, 'Upfront cost exceeds account balance', 'callers-fault', send],
    [-32009, 'Gas price below current base fee', 'callers-fault', send],
    [-32602, 'invalid argument 0: hex string without 0x prefix', 'params-refused'],
    [-32000, 'tracer not found', 'params-refused'],
    [-32000, 'ReferenceError: flatCallTracer is not defined', 'params-refused'],
    [-32600, 'Invalid Request', 'callers-fault'],
    [-38014, 'err: insufficient balance', 'callers-fault'],
    [-38026, 'too many calls', 'too-large'],
    [-32000, 'whatever comes next', 'callers-fault'],

    // The operator's key or plan.
    [429, 'Monthly capacity limit exceeded. Visit https://dashboard.example/settings/billing', 'plan'],
    [-32005, 'your monthly quota is exceeded, upgrade to get more logs', 'plan', logs],
    [-32000, 'You have reached the free tier limit', 'plan'],
    [-32000, 'Must be authenticated!', 'refused'],
    [-32002, 'invalid project id', 'refused'],
    [-32000, 'UNAUTHORIZED', 'refused'],
    [-32600, 'API key invalid', 'refused'],
    [-32000, 'key is inactive', 'refused'],
    [-40100, 'Unauthorized', 'refused'],
    [-40100, 'No access', 'refused'],

    // Rates.
    [-32005, 'project ID request rate exceeded', 'slow-down'],
    [-32005, 'daily request count exceeded, request rate limited', 'slow-down', logs],
    [-32005, 'limit exceeded', 'slow-down'],
    [-32007, '50/second request limit reached', 'slow-down'],
    [-32009, 'Server is busy, try again later', 'slow-down'],
    [-32016, 'over rate limit', 'slow-down'],
    [-32029, '25/second request limit reached', 'slow-down'],
    [429, 'Your app has exceeded its compute units per second capacity', 'slow-down'],
    [1015, 'you are being blocked', 'slow-down'],
    [-32000, 'too many requests, please slow down', 'slow-down'],
    [-32000, 'the network is over capacity', 'slow-down'],
    [-32000, 'Exceeded the quota usage', 'slow-down'],
    [-32000, 'node is under too much load', 'slow-down'],
    [-32000, 'No server available', 'slow-down'],
    [-32005, 'project ID request rate exceeded', 'slow-down', send],

    // Ranges and sizes.
    [-32602, 'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range', 'range-refused', logs],
    [-32005, 'limit exceeded', 'range-refused', logs],
    [-32002, 'query timeout exceeded', 'range-refused', logs],
    [
      -32005,
      'Requested range exceeds maximum RPC range limit',
      'range-refused',
      { ...call, method: 'trace_filter' },
    ],
    [-32005, 'Batched requests are not supported by this server', 'no-batch', batch],
    [-32005, 'Number of requests exceeds max batch size', 'too-large', batch],
    [-32600, 'batch too large', 'too-large', batch],
    [-32010, 'The batch request was too large', 'too-large', batch],
    [-32007, 'Request is too big', 'too-large'],
    [-32003, 'response too large', 'too-large'],
    [-32000, 'exceed max addresses or topics per search position', 'too-large', logs],
    [-32602, 'exceed maximum block range 10', 'range-refused', logs],
    [-32016, 'the gap is larger than max_gap (from: 1, to: 5, max_gap: 1)', 'range-refused', logs],
    [-32016, 'the gap is larger than max_gap (from: 1, to: 5, max_gap: 1)', 'range-refused', coreLogs],
    [-32016, 'Filter error', 'callers-fault', coreLogs],
    [-32008, 'Response is too big', 'too-large'],

    // Methods that this node does not offer.
    [-32601, 'the method trace_block does not exist/is not available', 'method-missing'],
    [-32604, 'Method not enabled', 'method-missing'],
    [-32004, 'Method not supported', 'method-missing'],
    [-32612, 'custom trace methods disabled', 'method-missing'],
    [-32600, 'Unsupported method: trace_block on ETH_MAINNET', 'method-missing'],
    [-32000, 'the namespace trace is not enabled', 'method-missing'],
    [-32000, 'trace_block is not included in your current plan', 'method-missing'],

    // Data that this node does not have.
    [4444, 'pruned history unavailable', 'pruned'],
    [-32000, 'old data not available due to pruning', 'pruned'],
    [-32000, 'missing trie node 4a2b (path ) state 0x4a2b is not available', 'pruned'],
    [-32000, 'required historical state unavailable (reexec=128)', 'pruned'],
    [-32000, 'historical state is not available', 'pruned'],
    [-32000, `historical state ${'2f18921a'.repeat(8)} is not available`, 'pruned'],
    [-32000, `state 0x${'2f18921a'.repeat(8)} is not available`, 'pruned'],
    [-32000, `state 0x${'2f18921a'.repeat(8)} is not canonical`, 'not-here'],
    [-32000, "trienode histories haven't been fully indexed yet", 'pruned'],
    [-32000, "state history hasn't been indexed yet", 'pruned'],
    [-32000, 'history is not fully indexed, requested: 7, indexed: 5', 'pruned'],
    [-32000, 'historical state has been pruned, first: 9, state: 7', 'pruned'],
    [-32000, 'missing block 0x2f18921a 7', 'pruned'],
    [-32000, 'parent 0x2f18921a not found', 'pruned'],
    [-32000, 'receipts length mismatch: 3 vs 0', 'pruned'],
    [-32000, 'receipts length mismatch: 3 vs 2', 'callers-fault'],
    [-32000, 'layer stale', 'not-here'],
    [-32000, 'header found, but block body is missing', 'not-here'],
    [-32000, `block {<nil> 0x${'2f18921a'.repeat(8)} false} not found`, 'not-here'],
    [-32002, 'No state available for block 0x3f9e020290502d1d41f4b5519e7d456f', 'pruned'],
    [-32000, 'World state unavailable', 'pruned'],
    [-32000, 'no historical rpc is available for this historical (pre-bedrock) execution request', 'pruned'],
    [-32602, 'Receipts for block 7 (0x3f) are neither stored nor reproducible from state history.', 'pruned'],
    [-32602, 'Archive requests require a personal token', 'pruned'],
    [-32602, 'distance to target block exceeds maximum proof window', 'pruned'],
    [-32000, 'distance to target block (100000) exceeds max-recreate-state-depth (1024)', 'pruned'],
    [-32074, 'whatever', 'pruned', core],
    [-32072, 'whatever', 'not-here', core],
    [-32000, 'transaction indexing is in progress', 'not-here'],
    [-39001, 'Unknown block', 'not-here'],
    [-39001, '', 'not-here'],
    [-32001, 'Resource not found', 'not-here'],
    [-32001, 'block not found: 0x12', 'not-here'],
    [-32000, 'header not found', 'not-here'],
    [-32000, 'header for hash not found', 'not-here'],
    [-32000, 'block 0x45d3a1f not found', 'not-here'],
    [-32000, 'could not find block', 'not-here'],
    [-32000, 'transaction not found', 'not-here'],
    [
      -32000,
      'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found',
      'not-here',
    ],
    [-32000, 'block range extends beyond current head block', 'not-here', logs],
    [-32008, 'Initial sync is still in progress', 'not-here'],
    [-32000, 'requested to block 7 after last accepted block 5', 'not-here'],
    [-32000, 'cannot query unfinalized data', 'not-here'],
    [-32000, 'height must be less than or equal to the current blockchain height', 'not-here'],
    [-32000, 'genesis is not traceable', 'not-here'],
    [-32000, 'seek with txNum=6850 but data before txNum=118750000 is not available', 'pruned'],
    [
      -32000,
      'seekInFiles(invIndex=unknown index,txNum=6850) but data before txNum=118750000 not available',
      'pruned',
    ],
    [
      -32000,
      'AsOfLookup(receipt, 7f, 9): seekInFiles(invIndex=receipt,txNum=9) but data before txNum=20 not available',
      'pruned',
      logs,
    ],
    [-32000, 'hash is not currently canonical', 'not-here'],
    [-32000, 'hash "0x4a2b" is not currently canonical', 'not-here'],
    [-32000, '0x4a2b block is not canonical', 'not-here'],
    [-32000, 'Invalid input', 'not-here'],
    [-32001, '0x4a2b receipt could not be found', 'not-here'],
    [-32000, '0x4a2b receipt could not be found', 'not-here'],
    [-32602, '0x4a2b could not be found', 'not-here'],
    [-32000, 'Cannot find receipts for block 0x12', 'not-here'],
    [-32000, 'transaction 0x4a2b not found', 'not-here'],
    [-32000, 'body not found for block 7', 'not-here'],
    [-32000, 'Parent block not found', 'not-here'],
    [-32602, 'Invalid block param (block not found)', 'not-here'],
    [-32001, 'unknown block or tx index', 'not-here'],
    [-32603, 'receipt not found', 'not-here'],
    [-32000, 'failed to get logs for block #7 (0x3f9e0202)', 'not-here', logs],
    [-32000, 'pending block is not available', 'not-here'],
    [-32000, "Block with such an ID doesn't exist yet", 'not-here'],
    [-32000, 'Block with such an ID is pruned', 'pruned'],
    [-32000, "state histories haven't been fully indexed yet", 'pruned'],
    [-32000, 'historical state not available in path scheme yet', 'pruned'],
    [-32000, 'State already discarded for 0x4a2b', 'pruned'],
    [-32000, 'State not found for block 7', 'pruned'],
    [-32000, 'your node is running with state pruning', 'pruned'],
    [-32000, 'height 7 is not available, lowest height is 90', 'pruned'],
    [-32000, 'Version has either been pruned, or is for a future block', 'pruned'],
    [12, "Can't route your request to suitable provider", 'not-here'],
    [-32000, 'P2P has been disabled. This functionality is not available', 'method-missing'],
    [-32000, 'method handler crashed', 'broken'],
    // The texts of contracts are theirs.
    [3, 'execution reverted: hash is not currently canonical', 'callers-fault'],
    [-32000, 'execution reverted: data before txNum=5 not available', 'callers-fault'],

    // Time and inner faults.
    [-32002, 'request timed out', 'timed-out'],
    [-32016, 'eth_call request was canceled due to enabled timeout.', 'timed-out'],
    [-32000, 'execution aborted (timeout = 5s)', 'timed-out'],
    [-32603, 'Timeout expired', 'timed-out'],
    [-32002, 'resource unavailable', 'timed-out'],
    [-32603, 'internal error', 'broken'],
  ];

describe('a JSON-RPC error', () => {
  it.each(SENTENCES.map(([code, message, meaning, subject = call]) => ({ code, message, meaning, subject })))(
    '$code "$message" is $meaning',
    ({ code, message, meaning, subject }) => {
      expect(judgeError(200, code, message, subject).meaning).toBe(meaning);
    },
  );

  it('has a sentence here for every row', () => {
    const hit = new Set<unknown>();
    for (const [code, message, , subject] of SENTENCES) {
      hit.add(judgeError(200, code, message, subject ?? call).source);
    }
    expect(ERROR_ROWS.filter((row) => !hit.has(row.source))).toEqual([]);
  });

  it('never weighs against a node, unless its operator is to act', () => {
    for (const [code, message, meaning, subject = call] of SENTENCES) {
      const { weighs } = judgeError(200, code, message, subject);
      expect([meaning, weighs]).toEqual([meaning, meaning === 'plan' || meaning === 'refused']);
    }
  });

  it.each([
    // The status blames the node: an error that would be the caller's fault is ignored.
    [500, 3, 'execution reverted', 'broken'],
    [500, -32602, 'invalid argument 0', 'broken'],
    [403, -32000, 'whatever', 'refused'],
    // A more specific message counts.
    [500, -32601, 'the method trace_block does not exist', 'method-missing'],
    [503, -32000, 'too many requests', 'slow-down'],
    [403, -32000, 'missing trie node', 'pruned'],
    // Not with a status that is certain.
    [401, -32601, 'the method does not exist', 'refused'],
    [402, -32005, 'limit exceeded', 'plan'],
    [407, -32000, 'header not found', 'refused'],
    [429, -32601, 'the method does not exist', 'slow-down'],
    // A status that says nothing about the node.
    [400, -32602, 'missing value for required argument 0', 'params-refused'],
    [404, -32601, 'the method does not exist', 'method-missing'],
  ])('under HTTP %i, %i "%s" is %s', (status, code, message, meaning) => {
    expect(judgeError(status, code, message, call).meaning).toBe(meaning);
  });
});

describe('an HTTP status', () => {
  const STATUSES: readonly (readonly [number, Meaning, boolean | 'alone'])[] = [
    [301, 'broken', true],
    [400, 'broken', 'alone'],
    [401, 'refused', true],
    [402, 'plan', true],
    [403, 'refused', true],
    [404, 'broken', 'alone'],
    [407, 'refused', true],
    [408, 'timed-out', true],
    [413, 'too-large', false],
    [429, 'slow-down', false],
    [500, 'broken', 'alone'],
    [502, 'broken', true],
    [503, 'broken', true],
    [504, 'timed-out', true],
    [520, 'broken', 'alone'],
  ];

  it.each(STATUSES)('%i is %s and weighs: %s', (status, meaning, weighs) => {
    expect(judgeStatus(status)).toMatchObject({ meaning, weighs });
  });

  it('is tested for every row', () => {
    const hit = new Set(STATUSES.map(([status]) => judgeStatus(status).source));
    expect(STATUS_ROWS.filter((row) => !hit.has(row.source))).toEqual([]);
  });

  it('pauses a node that is overloaded, and one whose plan is used up for longer', () => {
    expect([429, 503, 402, 500].map((status) => judgeStatus(status).pauseMs)).toEqual([
      1_000, 1_000, 60_000, 0,
    ]);
  });

  it('is a rate where Cloudflare says so in words', () => {
    expect(judgeStatus(403, 'error code: 1015').meaning).toBe('slow-down');
  });
});

describe('an error of the connection', () => {
  it.each<[string, Meaning, boolean]>([
    ['ECONNREFUSED', 'unreachable', true],
    ['ENOTFOUND', 'unreachable', true],
    ['UND_ERR_CONNECT_TIMEOUT', 'timed-out', true],
    ['UND_ERR_HEADERS_TIMEOUT', 'timed-out', false],
    ['ECONNRESET', 'unreachable', false],
    ['CERT_HAS_EXPIRED', 'unreachable', false],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'unreachable', false],
    ['HPE_INVALID_CONSTANT', 'broken', false],
    ['Z_DATA_ERROR', 'broken', false],
    ['EWHATEVER', 'unreachable', false],
  ])('%s is %s; surely not sent: %s', (code, meaning, unsent) => {
    for (const error of [
      Object.assign(new Error('x'), { code }),
      new Error('fetch failed', { cause: { code } }),
      new AggregateError([{ code }]),
    ]) {
      expect(judgeSocket(error)).toMatchObject({ verdict: { meaning, weighs: true }, unsent });
    }
  });
});

it('every row says where it comes from, each in its own words', () => {
  const sources = [...ERROR_ROWS, ...STATUS_ROWS, ...SOCKET_ROWS].map(({ source }) => source);
  expect(new Set(sources).size).toBe(sources.length);
});
