import { parseNetworks } from '@packhouse/networks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ask } from '../testing/ask.js';
import { type ScriptedNode, startScriptedNode } from '../testing/scripted-node.js';
import { startTestGateway, type TestGateway } from '../testing/test-gateway.js';

/** Shorter than the time of a call, longer than what its questions would take one by one. */
const ANSWER_MS = 300;
const WAIT = { timeout: 60_000 };
const hex = (n: number): string => `0x${n.toString(16)}`;
const getHash = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

let node: ScriptedNode;
let at: TestGateway;
let key: string;
let head = 500;
let slow = false;

beforeAll(async () => {
  node = await startScriptedNode();
  node.answer(async ({ method, params }) => {
    if (method === 'eth_chainId') return { result: '0x1' };
    if (slow) await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    if (method === 'eth_getBlockByNumber') {
      const number = String(params[0]).startsWith('0x') ? Number(params[0]) : head;
      return { result: { number: hex(number), hash: getHash(number), parentHash: getHash(number - 1) } };
    }
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
    const blocks = Number(toBlock) - Number(fromBlock) + 1;
    return blocks > 4
      ? { error: { code: -32005, message: 'block range is limited to 4 blocks' } }
      : { result: [] };
  });
  const networks = parseNetworks(
    `networks:
  - {id: main, family: evm, chainId: 1, rpc: {timeoutMs: 1800}, upstreams: [{url: '${node.url}'}]}`,
    { source: 'test', env: {} },
  );
  at = await startTestGateway({ networks });
  key = (await at.makeKey()).key;
  await vi.waitFor(
    async () => expect(await at.context.metrics.render()).toContain('head_block{network="main"'),
    { timeout: 60_000 },
  );
});
afterAll(async () => {
  await at?.close();
  await node?.close();
});

const call = async (method: string, params: unknown[] = []) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const { status, json } = await ask(at.url, `/main/v1/${key}`, { method: 'POST', body, headers });
  return { status, ...json() } as { status: number; result?: unknown; error?: object };
};
const LATE = { status: 504, error: { code: -32002, data: { reason: 'upstream-timeout' } } };

it('the questions of one call have its time together, and what they taught is kept', async () => {
  slow = true;
  expect(await call('eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x80' }])).toMatchObject(LATE);
  slow = false;
  // No block of the first call, whose last questions may still arrive. A slow machine may take longer than a call may.
  await vi.waitFor(async () => {
    const before = node.calls.length;
    expect(await call('eth_getLogs', [{ fromBlock: '0x101', toBlock: '0x110' }])).toMatchObject({
      result: [],
    });
    const asked = node.calls.slice(before).filter(({ method, params }) => {
      return method === 'eth_getLogs' && Number((params[0] as { fromBlock: string }).fromBlock) > 0x100;
    });
    expect(asked).toHaveLength(4);
  }, WAIT);
});

it('a poll has its time for all it asks, and the next one gives what it did not', async () => {
  const filter = (await call('eth_newBlockFilter')).result;
  head += 200;
  slow = true;
  expect(await call('eth_getFilterChanges', [filter])).toMatchObject(LATE);
  slow = false;
  await vi.waitFor(async () => {
    expect((await call('eth_getFilterChanges', [filter])).result).toHaveLength(200);
  }, WAIT);
});
