import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Geth, gethInstalled, startGeth } from '@packhouse/local';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { collect, isFetched, testUpstream, useNodes } from '../../test/test-source.js';
import type { Meaning } from '../upstream/meanings.js';
import { judgeError } from '../upstream/verdict.js';

const ALL = { receipts: true, traces: true };
/** geth keeps the state of 128 blocks. Between its blocks it sometimes makes an empty one. */
const TRANSACTIONS = 170;
const [OLD, NEXT, FUTURE] = ['0x5', '0x6', '0xffff'];
const SOMEBODY = `0x${'aa'.repeat(20)}`;
const UNKNOWN = `0x${'12'.repeat(32)}`;
const WAIT = { timeout: 60_000, interval: 20 };
const CALL_TRACER = { tracer: 'callTracer' };
/** Code that emits an event with no topics. */
const EMITTER = '0x6005600c60003960056000f360006000a0';
const ENDLESS = { data: '0x5b600056', gas: '0xffffffff' };
/** What a node may refuse by a setting of its own. */
const LIMITS = [
  ['--rpc.rangelimit', '10'],
  ['--rpc.logquerylimit', '2'],
  ['--rpc.evmtimeout', '20ms'],
  ['--rpc.batch-request-limit', '5'],
  ['--rpc.batch-response-max-size', '20000'],
].flat();

const STATE = ['eth_getBalance', 'eth_getCode', 'eth_getTransactionCount'].map(
  (method) => [method, [SOMEBODY, OLD], 'pruned'] as const,
);
/** What a geth that has deleted the state of old blocks refuses, and what that is. */
const REFUSED: readonly (readonly [method: string, params: readonly unknown[], meaning: Meaning])[] = [
  ...STATE,
  ['eth_getStorageAt', [SOMEBODY, '0x0', OLD], 'pruned'],
  ['eth_getProof', [SOMEBODY, [], OLD], 'pruned'],
  ['eth_call', [{ to: SOMEBODY }, OLD], 'pruned'],
  ['eth_estimateGas', [{ to: SOMEBODY }, OLD], 'pruned'],
  ['eth_createAccessList', [{ to: SOMEBODY }, OLD], 'pruned'],
  ['debug_traceBlockByNumber', [OLD, CALL_TRACER], 'pruned'],
  ['debug_traceCall', [{ to: SOMEBODY }, OLD, CALL_TRACER], 'pruned'],
  ['debug_executionWitness', [OLD], 'pruned'],
  ['debug_traceTransaction', [UNKNOWN, CALL_TRACER], 'not-here'],
  ['debug_traceBlockByHash', [UNKNOWN, CALL_TRACER], 'not-here'],
  ['debug_traceBlockByNumber', [FUTURE, CALL_TRACER], 'not-here'],
  ['debug_storageRangeAt', [UNKNOWN, 0, SOMEBODY, '0x', 1], 'not-here'],
  ['eth_call', [{ to: SOMEBODY }, FUTURE], 'not-here'],
  ['eth_call', [{ to: SOMEBODY }, { blockHash: UNKNOWN }], 'not-here'],
  ['eth_feeHistory', ['0x2', FUTURE, []], 'not-here'],
  ['eth_getLogs', [{ fromBlock: FUTURE, toBlock: FUTURE }], 'not-here'],
  ['eth_getLogs', [{ blockHash: UNKNOWN }], 'not-here'],
  ['eth_getLogs', [{ fromBlock: OLD, toBlock: '0x20' }], 'range-refused'],
  ['eth_getLogs', [{ fromBlock: OLD, toBlock: 'latest' }], 'range-refused'],
  ['eth_getLogs', [{ address: [1, 2, 3].map((n) => `${SOMEBODY.slice(0, -1)}${n}`) }], 'too-large'],
  ['eth_getLogs', [{ fromBlock: NEXT, toBlock: OLD }], 'params-refused'],
  ['eth_getBalance', [SOMEBODY.slice(1), 'latest'], 'params-refused'],
  ['debug_traceCall', [{ to: SOMEBODY }, 'latest', { tracer: 'unknownTracer' }], 'params-refused'],
  ['trace_block', [OLD], 'method-missing'],
  ['eth_call', [ENDLESS, 'latest'], 'timed-out'],
  ['eth_call', [{ data: '0x60006000fd' }, 'latest'], 'callers-fault'],
  ['eth_call', [{ data: '0xfe' }, 'latest'], 'callers-fault'],
  ['eth_call', [{ from: SOMEBODY, to: SOMEBODY, value: '0xffffffff' }, 'latest'], 'callers-fault'],
  ['eth_call', [{ ...ENDLESS, gas: '0x100' }, 'latest'], 'callers-fault'],
  ['eth_estimateGas', [{ from: SOMEBODY, to: SOMEBODY, value: '0xffffffff' }], 'callers-fault'],
  ['eth_sendRawTransaction', ['0x02'], 'callers-fault'],
  ['eth_sendTransaction', [{ from: SOMEBODY, to: SOMEBODY }], 'callers-fault'],
  ['eth_getFilterChanges', ['0x1234'], 'callers-fault'],
];

/** The error of a call, with the HTTP status. */
async function getError({ url }: Geth, method: string, params: readonly unknown[]) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { error } = (await response.json()) as { error?: { code: number; message: string } };
  return { status: response.status, ...error };
}

describe.skipIf(!gethInstalled())('against a real geth (needs geth)', () => {
  const use = useNodes();
  let directory: string;
  let archive: Geth;
  let pruned: Geth;
  let head: number;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'packhouse-geth-'));
    const folders = ['archive', 'pruned'].map((name) => path.join(directory, name)) as [string, string];
    const first = await startGeth('--datadir', folders[0], '--gcmode', 'archive');
    const { contractAddress } = await first.send({ data: EMITTER });
    for (let block = 2; block <= TRANSACTIONS; block++) {
      await first.send(block % 2 === 0 ? { to: contractAddress } : { to: SOMEBODY, value: '0x1' });
    }
    head = Number(await first.rpc('eth_blockNumber', []));
    await first.stop();
    await cp(folders[0], folders[1], { recursive: true });
    archive = await startGeth('--datadir', folders[0], '--gcmode', 'archive');
    pruned = await startGeth('--datadir', folders[1], '--gcmode', 'full', ...LIMITS);
    // It indexes its history after a start.
    await vi.waitFor(() => archive.rpc('debug_traceBlockByNumber', [OLD, CALL_TRACER]), WAIT);
  });
  afterAll(async () => {
    await archive?.stop();
    await pruned?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it.each(REFUSED.map(([method, params, meaning]) => ({ method, params, meaning })))(
    'its error to $method $params is $meaning',
    async ({ method, params, meaning }) => {
      const { status, code, message } = await getError(pruned, method, params);
      const said = { meaning: undefined as Meaning | undefined, message };
      if (code !== undefined && message !== undefined)
        said.meaning = judgeError(status, code, message, { method, family: 'evm', calls: 1 }).meaning;
      expect(said).toEqual({ meaning, message });
    },
  );

  it('fetches every block whole, the old ones from the node that still has their state', async () => {
    const range = { firstBlock: 1, lastBlock: head };
    const changes = { chainId: 1_337 };
    const alone = use.source([testUpstream(archive.url)], { changes }).source;
    const expected = await collect(alone.fetchBlocks(range, ALL));
    const upstreams = [
      testUpstream(pruned.url, { name: 'pruned', priority: 1 }),
      testUpstream(archive.url, { name: 'archive', priority: 2 }),
    ];
    const { source } = use.source(upstreams, { changes });
    const blocks = await collect(source.fetchBlocks(range, ALL));
    expect(blocks).toHaveLength(head);
    let sent = 0;
    for (const [at, block] of blocks.entries()) {
      const other = expected[at];
      if (!isFetched(block)) throw block.error;
      if (other === undefined || !isFetched(other)) throw new Error(`${at + 1} is missing`);
      sent += (block.block as { transactions: unknown[] }).transactions.length;
      expect(block.block).toEqual(other.block);
      expect(block.receipts).toEqual(other.receipts);
      expect(block.traces).toEqual(other.traces);
    }
    expect(sent).toBe(TRANSACTIONS);
    const by = blocks.map((block) => (isFetched(block) ? block.upstream : ''));
    expect([by[0], by.at(-1)]).toEqual(['archive', 'pruned']);
  });

  it('has no old block without its traces, where only a pruned node is left', async () => {
    const { source } = use.source([testUpstream(pruned.url)], { changes: { chainId: 1_337 } });
    const blocks = await collect(source.fetchBlocks({ firstBlock: 1, lastBlock: head }, ALL));
    const failed = blocks.filter((block) => !isFetched(block));
    expect(failed.map(({ number }) => number)).toEqual(
      Array.from({ length: failed.length }, (_, n) => n + 1),
    );
    expect(failed.length).toBeGreaterThan(30);
    expect(failed.length).toBeLessThan(60);
    for (const block of failed) {
      if (isFetched(block)) throw new Error('unreachable');
      expect(block.error).toMatchObject({
        code: 'NODE_ERROR',
        message: expect.stringContaining('historical state is not available'),
      });
    }
  });
});
