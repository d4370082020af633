import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';
import type { ScriptedAnswer } from '../testing/scripted-node.js';

const HASH = `0x${'ab'.repeat(32)}`;
const ACCOUNT = `0x${'cd'.repeat(20)}`;

/** Reads whose parameters are checked, with parameters that pass. */
const READS: readonly (readonly [method: string, params: unknown[]])[] = [
  ['eth_chainId', []],
  ['net_version', []],
  ['eth_blockNumber', []],
  ['eth_gasPrice', []],
  ['eth_maxPriorityFeePerGas', []],
  ['eth_blobBaseFee', []],
  ['eth_syncing', []],
  ['eth_feeHistory', ['0x1', 'latest', []]],
  ['eth_getBlockByNumber', ['0x9', false]],
  ['eth_getBlockByHash', [HASH, false]],
  ['eth_getBlockReceipts', ['0x9']],
  ['eth_getBlockReceipts', [{ blockHash: HASH }]],
  ['eth_getTransactionByHash', [HASH]],
  ['eth_getTransactionByBlockNumberAndIndex', ['0x9', '0x0']],
  ['eth_getTransactionByBlockHashAndIndex', [HASH, '0x0']],
  ['eth_getTransactionReceipt', [HASH]],
  ['eth_getBlockTransactionCountByHash', [HASH]],
  ['eth_getBlockTransactionCountByNumber', ['0x9']],
  ['eth_getUncleCountByBlockHash', [HASH]],
  ['eth_getUncleCountByBlockNumber', ['0x9']],
  ['eth_getStorageAt', [ACCOUNT, '0x0', '0x9']],
  ['eth_getBalance', [ACCOUNT]],
  ['eth_getCode', [ACCOUNT, 'latest']],
  ['eth_getTransactionCount', [ACCOUNT]],
  ['eth_getProof', [ACCOUNT, [], '0x9']],
  ['eth_getLogs', [{ fromBlock: '0x2', toBlock: '0x9' }]],
  ['eth_getLogs', [{ blockHash: HASH }]],
  ['eth_getLogs', [{}]],
  ['trace_block', ['0x9']],
  ['trace_transaction', [HASH]],
  ['trace_get', [HASH, ['0x0']]],
  ['trace_replayTransaction', [HASH, ['trace', 'stateDiff']]],
  ['trace_replayBlockTransactions', ['0x9', ['vmTrace']]],
  ['debug_traceBlockByNumber', ['0x9', { tracer: 'callTracer', tracerConfig: { withLog: true } }]],
  ['debug_traceBlockByHash', [HASH]],
  ['debug_traceTransaction', [HASH, { tracer: 'prestateTracer' }]],
  ['debug_getRawReceipts', ['0x9']],
];

/** What executes something that the caller wrote, or has a parameter that nobody checked. */
const CALLERS: readonly (readonly [method: string, params: unknown[]])[] = [
  ['eth_call', [{ to: ACCOUNT }, 'latest']],
  ['eth_estimateGas', [{ to: ACCOUNT }]],
  ['debug_traceCall', [{ to: ACCOUNT }, 'latest', { tracer: 'callTracer' }]],
  ['trace_call', [{ to: ACCOUNT }, ['trace']]],
  ['debug_traceTransaction', [HASH, { tracer: '{result: () => 1}' }]],
  ['debug_traceTransaction', [HASH, { tracer: 'callTracer', timeout: 'soon' }]],
  ['debug_traceTransaction', ['0x9']],
  ['debug_traceBlockByNumber', ['0x9', {}, 1]],
  ['debug_getRawReceipts', ['soon']],
  ['trace_block', [HASH, true]],
  ['trace_get', [HASH, 0]],
  ['trace_replayTransaction', [HASH, ['all']]],
  ['trace_filter', [{ fromBlock: '0x2', toBlock: '0x9', count: 'many' }]],
  ['eth_other', [HASH]],
];

const ERRORS: readonly (readonly [code: number, message: string])[] = [
  [-32000, 'failed to find transaction in block'],
  [-32000, 'transaction and receipt count mismatch'],
  [-32503, 'Errors from the following providers prevented an answer'],
  [-32000, 'invalid block range params'],
  [-32602, 'invalid argument 0'],
  [-32600, 'Invalid Request'],
];

describe('of two nodes', () => {
  let gate: ScriptedGateway;
  let error: { code: number; message: string };
  let refuses: string | undefined;

  beforeAll(async () => {
    const names = [...READS, ...CALLERS].map(([method]) => method);
    const allow = [...new Set(names)].filter((name) => /^(trace|debug)_|^eth_other$/.test(name));
    const rpc = `rpc: {allow: [${allow.join(', ')}]}`;
    gate = await startScriptedGateway([`id: main, family: evm, chainId: 1, ${rpc}`], { nodes: 2 });
    gate.nodes.forEach((node, at) => {
      node.answer(({ method, params }): ScriptedAnswer => {
        const isWatch = params[0] === 'latest' || params[0] === 'finalized';
        if (method === refuses && !(method === 'eth_getBlockByNumber' && isWatch)) {
          return at === 0 ? { error } : { result: method === 'eth_blockNumber' ? '0x10' : [] };
        }
        if (method === 'eth_chainId') return { result: '0x1' };
        return { result: { number: params[0] === 'finalized' ? '0x1' : '0x10', transactions: [] } };
      });
    });
    await vi.waitFor(
      async () => {
        const { text } = await ask(gate.at.url, '/metrics');
        for (const name of ['node-1', 'node-2']) {
          expect(text).toMatch(new RegExp(`packhouse_upstream_head_block\\S*upstream="${name}"\\S* 16\\n`));
        }
      },
      { timeout: 60_000, interval: 20 },
    );
  });
  afterAll(() => gate?.close());
  beforeEach(() => {
    for (const node of gate.nodes) node.calls.length = 0;
    // Headers are kept for a while.
    gate.at.time.offset += 10_000;
  });
  /** How often the first was asked, beside the watch of its head. */
  const asked = (method: string): number =>
    gate.asked(method).filter(([of]) => method !== 'eth_getBlockByNumber' || of === '0x9').length;

  describe.each(ERRORS)('error %i "%s" of the first', (code, message) => {
    it.each(READS)('has the second asked for %s %j', async (method, params) => {
      [error, refuses] = [{ code, message }, method];
      expect((await gate.call('main', method, params)).error).toBeUndefined();
      expect(asked(method)).toBe(1);
    });

    it.each(CALLERS)('is the answer to %s %j', async (method, params) => {
      [error, refuses] = [{ code, message }, method];
      expect((await gate.call('main', method, params)).error).toMatchObject({ code, message });
      expect(asked(method)).toBe(1);
    });
  });
});
