import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { createReplayNode, type ReplayNode } from './create-replay-node.js';
import { generateChain } from './generate-chain.js';
import { loadAnswers } from './recorded-answers.js';
import { startFromArguments } from './start-from-arguments.js';
import { call } from './testing/rpc.js';

const recordings = fileURLToPath(new URL('../recordings/', import.meta.url));
let node: ReplayNode | undefined;
afterEach(() => node?.close());

test('recorded answers come before those of the chain, exact ones before those for all parameters', async () => {
  node = await createReplayNode({
    blocks: generateChain({ length: 2 }),
    answers: [
      { method: 'eth_call', result: '0x' },
      { method: 'eth_call', params: [{ to: '0x1' }, 'latest'], result: '0x01' },
      { method: 'eth_chainId', result: '0x9' },
    ],
  });
  expect(await call(node.url, 'eth_call', [{ to: '0x1' }, 'latest'])).toBe('0x01');
  expect(await call(node.url, 'eth_call', [{ to: '0x2' }, 'latest'])).toBe('0x');
  expect(await call(node.url, 'eth_chainId')).toBe('0x9');
  expect(await call(node.url, 'eth_blockNumber')).toBe('0x2');
});

test('transactions are found by block and index', async () => {
  const blocks = generateChain({ length: 2 });
  node = await createReplayNode({ blocks });
  const [first] = blocks;
  const transaction = first?.block.transactions[1];
  expect(await call(node.url, 'eth_getTransactionByBlockNumberAndIndex', ['0x1', '0x1'])).toEqual(
    transaction,
  );
  expect(await call(node.url, 'eth_getTransactionByBlockHashAndIndex', [first?.block.hash, '0x1'])).toEqual(
    transaction,
  );
  expect(await call(node.url, 'eth_getTransactionByBlockNumberAndIndex', ['0x1', '0xffff'])).toBeNull();
});

test.each([
  ['core.json', 'cfx_epochNumber'],
  ['cell.json', 'get_consensus'],
  ['registry.json', 'das_accountList'],
])('a node of another family serves %s and no EVM method', async (file, method) => {
  const started = await startFromArguments({ answers: [`${recordings}${file}`] });
  node = started.node;
  expect(started.blocks).toBeUndefined();
  expect(await call(node.url, method)).toBeTruthy();
  const answer = await fetch(node.url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' }),
    headers: { 'content-type': 'application/json' },
  });
  expect(await answer.json()).toMatchObject({ error: { code: -32601 } });
});

test('a file that holds something else is refused', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'answers-'));
  const file = path.join(folder, 'answers.json');
  await writeFile(file, '{"method": "eth_call"}');
  await expect(loadAnswers(file)).rejects.toThrow(/no file of recorded answers/);
  await rm(folder, { recursive: true });
});
