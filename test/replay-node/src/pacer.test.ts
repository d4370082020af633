import { performance } from 'node:perf_hooks';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { createReplayNode, type ReplayNode, type ReplayNodeOptions } from './create-replay-node.js';
import { generateChain } from './generate-chain.js';
import type { RecordedBlock } from './recorded-block.js';
import { call, post } from './testing/rpc.js';

const started: ReplayNode[] = [];
let blocks: RecordedBlock[];

beforeAll(() => {
  blocks = generateChain({ length: 1, txsPerBlock: 30 });
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((node) => node.close()));
});

async function start(options: Partial<ReplayNodeOptions>): Promise<ReplayNode> {
  const node = await createReplayNode({ blocks, ...options });
  started.push(node);
  return node;
}

test('an answer comes no sooner than the latency, and answers wait side by side', async () => {
  const node = await start({ latencyMs: 150 });
  const begin = performance.now();
  await Promise.all(Array.from({ length: 10 }, () => call(node.url, 'eth_blockNumber')));
  expect(performance.now() - begin).toBeGreaterThan(145);
  expect(node.stats().mostInFlight).toBeGreaterThan(1);
});

test('a slow line is no faster than it says, and what comes over it is whole', async () => {
  const size = JSON.stringify(blocks[0]?.block).length;
  const node = await start({ bytesPerSecond: size * 5 });
  const begin = performance.now();
  const answers = await Promise.all(
    [1, 2].map(() => call(node.url, 'eth_getBlockByNumber', ['latest', true])),
  );
  // Two answers over a line that takes a fifth of a second for each.
  expect(performance.now() - begin).toBeGreaterThan(300);
  expect(answers).toEqual([blocks[0]?.block, blocks[0]?.block]);
});

test('requests beyond the rate are refused with 429 and Retry-After', async () => {
  const node = await start({ requestsPerSecond: 2 });
  const body = { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] };
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(node.url, body)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThanOrEqual(6);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  expect(node.stats().rateLimited).toBe(refused.length);
});

test('closing ends answers that still wait', async () => {
  const node = await createReplayNode({ blocks, latencyMs: 3_600_000 });
  const waiting = call(node.url, 'eth_blockNumber').then(
    () => 'answered',
    () => 'ended',
  );
  await expect.poll(() => node.stats().inFlight).toBe(1);
  await node.close();
  expect(await waiting).toBe('ended');
});
