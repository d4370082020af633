import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedGateway, startScriptedGateway } from '../testing/scripted-gateway.js';
import type { ScriptedAnswer } from '../testing/scripted-node.js';
import { addedMethod } from './added-methods.js';

const READS = `
  debug_traceTransaction debug_traceBlockByNumber debug_traceCall debug_getRawReceipts
  debug_storageRangeAt debug_dumpBlock debug_getBadBlocks debug_executionWitness trace_block
  trace_transaction trace_filter trace_call trace_rawTransaction eth_createAccessList eth_simulateV1
  eth_callMany eth_protocolVersion eth_accounts eth_coinbase eth_mining eth_hashrate eth_getWork
  eth_getCompilers eth_fillTransaction eth_getUncleByBlockNumberAndIndex eth_getBlockAccessList eth_config
  net_listening net_peerCount txpool_content txpool_status web3_other erigon_getHeaderByNumber
  ots_getBlockDetails bor_getAuthor zks_L1BatchNumber rollup_getInfo optimism_syncStatus cfx_getStatus
  cfx_epochNumber get_tip_header get_transaction test_tx_pool_accept estimate_cycles eth_signersAt
  debug_settings das_reverseRecord constructor
`
  .trim()
  .split(/\s+/);

const EFFECTS = `
  eth_sendTransaction eth_sendRawTransactionSync eth_sendRawTransactionConditional eth_sendBundle
  mev_sendBundle eth_sendUserOperation eth_cancelPrivateTransaction eth_resend eth_sendPrivateTransaction
  eth_sign eth_signTransaction eth_signTypedData_v4 eth_submitWork eth_submitHashrate
  debug_batchSendRawTransaction cfx_sendRawTransaction debug_setHead debug_resetHead debug_freezeClient
  debug_chaindbCompact debug_verbosity debug_writeMemProfile debug_cpuProfile
  debug_standardTraceBlockToFile debug_bundler_sendBundleNow personal_unlockAccount admin_addPeer
  miner_start engine_newPayloadV3 clique_propose anvil_mine hardhat_setBalance evm_snapshot
  ibft_proposeValidatorVote parity_setMode cfx_newFilter cfx_getFilterChanges cfx_uninstallFilter
  submit_block set_ban add_node clear_tx_pool remove_transaction truncate generate_block
  notify_transaction ping_peers
`
  .trim()
  .split(/\s+/);

it.each(READS)('%s may be asked twice', (name) => expect(addedMethod(name).idempotent).toBe(true));
it.each(EFFECTS)('%s may not', (name) => expect(addedMethod(name).idempotent).toBe(false));

describe('of two nodes', () => {
  let gate: ScriptedGateway;
  let first: ScriptedAnswer;
  const HASH = `0x${'ab'.repeat(32)}`;

  beforeAll(async () => {
    const allow = [...READS, ...EFFECTS].join(', ');
    gate = await startScriptedGateway([`id: main, family: evm, chainId: 1, rpc: {allow: [${allow}]}`], {
      nodes: 2,
    });
    gate.nodes.forEach((node, at) => {
      node.answer(({ method, params }) => {
        if (method === 'eth_chainId') return { result: '0x1' };
        if (method === 'eth_getBlockByNumber') {
          return { result: { number: params[0] === 'finalized' ? '0x1' : '0x10' } };
        }
        return at === 0 ? first : { result: ['two'] };
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
  });
  const asked = (method: string): number[] => gate.nodes.map((node) => gate.asked(method, node).length);

  it.each<[string, ScriptedAnswer]>([
    ['breaks off', 'reset'],
    ['fails', { status: 500, body: 'no' }],
    ['sends no JSON-RPC', { status: 200, body: '<html>' }],
    ['sends half an answer', { status: 200, body: '{"jsonrpc":"2.0","id":1,"result":[{"a":1}' }],
    ['does not offer it', { error: { code: -32601, message: 'the method does not exist' } }],
    [
      'has deleted it',
      { error: { code: -32000, message: 'seek with txNum=5 but data before txNum=9 is not available' } },
    ],
    ['is on another branch', { error: { code: -32000, message: 'hash is not currently canonical' } }],
  ])('the second one is asked for a read where the first %s, and not told to send', async (_, answer) => {
    for (const [method, result, times] of [
      ...['debug_traceCall', 'trace_filter', 'eth_createAccessList', 'net_peerCount'].map(
        (read) => [read, ['two'], [1, 1]] as const,
      ),
      ...['eth_sendBundle', 'eth_sendTransaction', 'debug_setHead'].map(
        (send) => [send, undefined, [1, 0]] as const,
      ),
    ]) {
      first = answer;
      expect((await gate.call('main', method, [{}])).result).toEqual(result);
      expect(asked(method)).toEqual(times);
      // A node that fails five times in a row is asked last.
      first = { result: 'one' };
      await gate.call('main', 'eth_config', []);
    }
  });

  it('what a node says of a call itself is handed on', async () => {
    first = { error: { code: 3, message: 'execution reverted' } };
    expect((await gate.call('main', 'debug_traceCall', [{}])).error).toMatchObject({ code: 3 });
    expect(asked('debug_traceCall')).toEqual([1, 0]);
  });

  it.each<[string, unknown[], unknown]>([
    ['trace_transaction', [HASH], null],
    ['trace_transaction', [HASH], []],
    ['debug_traceTransaction', [HASH], null],
    ['trace_block', ['0x9'], []],
    ['trace_block', ['0x1'], []],
    ['trace_block', ['latest'], null],
    ['debug_getRawReceipts', [HASH], []],
    ['debug_traceBlockByNumber', ['0x10', {}], []],
  ])('the second one is asked for %s %j where the first says %j', async (method, params, result) => {
    first = { result };
    expect((await gate.call('main', method, params)).result).toEqual(['two']);
    expect(asked(method)).toEqual([1, 1]);
  });

  it.each<[string, unknown[], unknown]>([
    ['txpool_content', [], []],
    ['eth_accounts', [], []],
    ['eth_getUncleByBlockNumberAndIndex', ['0x9', '0x0'], null],
    ['debug_getBadBlocks', [], null],
  ])('the first is believed for %s %j where it says %j', async (method, params, result) => {
    first = { result };
    expect((await gate.call('main', method, params)).result).toEqual(result);
    expect(asked(method)).toEqual([1, 0]);
  });
});
