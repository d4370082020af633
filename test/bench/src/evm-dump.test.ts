import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createScope } from '@packhouse/local';
import { createReplayNode, generateChain } from '@packhouse/replay-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runEvmDump } from './evm-dump.js';

/**
 * Asks what evm-dump asks (its evm-rpc/src/rpc.ts): chain, finalized block, whether receipts come by block, then batches
 * of blocks, of receipts, and of traces by hash. Writes as its archive layout does, and tells how it was started.
 */
const STAND_IN = `
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
const flags = ['with-receipts', 'with-traces', 'use-trace-api', 'verify-block-hash', 'verify-tx-sender', 'verify-tx-root'];
if (process.argv.includes('--help')) {
  console.log(flags.filter((flag) => flag !== process.env.LACKS).map((flag) => '  --' + flag + '  does so').join('\\n'));
  process.exit(0);
}
const text = { type: 'string' };
const { values } = parseArgs({ options: {
  endpoint: text, dest: text, 'first-block': text, 'last-block': text,
  ...Object.fromEntries(flags.map((flag) => [flag, { type: 'boolean' }])),
} });
const ask = async (body) => (await fetch(values.endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();
const calls = (method, lists) => ask(lists.map((params, id) => ({ jsonrpc: '2.0', id, method, params })));
const first = Number(values['first-block']);
const last = Number(values['last-block']);
const numbers = Array.from({ length: last - first + 1 }, (_, at) => '0x' + (first + at).toString(16));
const [head] = await calls('eth_getBlockByNumber', [['finalized', false]]);
if (Number(head.result.number) < last) throw new Error('not final');
if ((await ask({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })).result !== '0x1') throw new Error('another chain');
if (!Array.isArray((await calls('eth_getBlockReceipts', [['latest']]))[0].result)) throw new Error('no receipts');
const blocks = (await calls('eth_getBlockByNumber', numbers.map((number) => [number, true]))).map(({ result }) => result);
const receipts = await calls('eth_getBlockReceipts', numbers.map((number) => [number]));
const traces = await calls('trace_block', blocks.map(({ hash }) => [hash]));
for (const [at, block] of blocks.entries()) {
  if (receipts[at].result.length !== block.transactions.length) throw new Error('receipts are missing');
  if (traces[at].result[0].blockHash !== block.hash) throw new Error('traces of another block');
}
const folder = values.dest + '/' + first + '/' + first + '-' + (last - Number(process.env.SHORT ?? 0)) + '-' + blocks.at(-1).hash.slice(2, 10);
mkdirSync(folder, { recursive: true });
writeFileSync(folder + '/blocks.jsonl.gz', '12345');
writeFileSync(process.argv[1] + '.started', JSON.stringify(values));
`;

const blocks = generateChain({ length: 12 });
let folder: string;
let node: Awaited<ReturnType<typeof createReplayNode>>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'evm-dump-'));
  await writeFile(path.join(folder, 'run.mjs'), STAND_IN);
  node = await createReplayNode({ blocks });
});
afterAll(async () => {
  await node.close();
  await rm(folder, { recursive: true });
});

async function run(checks: 'none' | 'roots' | 'all', env: Record<string, string> = {}) {
  const scope = createScope();
  Object.assign(process.env, env);
  try {
    const range = { first: blocks[0]?.number as number, last: blocks.at(-1)?.number as number };
    const program = path.join(folder, 'run.mjs');
    const ran = await runEvmDump(scope, {
      program,
      node: { url: node.url, ...range },
      checks,
      limitMs: 300_000,
    });
    const { dest: _, ...options } = JSON.parse(await readFile(`${program}.started`, 'utf8')) as object & {
      dest: string;
    };
    return { ran, options: Object.keys(options) };
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
    await scope.close();
  }
}

const ALWAYS = ['endpoint', 'first-block', 'last-block', 'with-receipts', 'with-traces', 'use-trace-api'];

it('runs evm-dump over a replay node, with the checks that were asked for', async () => {
  const { ran, options } = await run('roots');
  expect(ran).toMatchObject({ blocks: 12, bytes: 5 });
  expect(options).toEqual([...ALWAYS, 'verify-block-hash', 'verify-tx-root']);
  expect((await run('none')).options).toEqual(ALWAYS);
  expect((await run('all')).options).toContain('verify-tx-sender');
});

it('counts the blocks that were written, and refuses a run that left out more than the end', async () => {
  expect((await run('none', { SHORT: '2' })).ran.blocks).toBe(10);
  await expect(run('none', { SHORT: '11' })).rejects.toThrow('evm-dump wrote 1 of 12 blocks');
});

it('refuses a version that cannot fetch the same', async () => {
  await expect(run('none', { LACKS: 'use-trace-api' })).rejects.toThrow('does not name --use-trace-api');
});
