import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@packhouse/local';
import { createReplayNode, generateChain, loadAnswers, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { type CliProcess, startCli } from './cli-process.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

const shell = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const recordings = path.join(root, 'test/replay-node/recordings');

/** Methods that a client may call. */
const METHODS = `eth_getLogs eth_getStorageAt eth_call eth_newFilter eth_getFilterLogs eth_getFilterChanges
  eth_newBlockFilter eth_newPendingTransactionFilter eth_uninstallFilter eth_getBlockByNumber eth_getBlockByHash
  eth_getTransactionByHash eth_getTransactionByBlockNumberAndIndex eth_getTransactionByBlockHashAndIndex
  eth_getTransactionReceipt eth_blockNumber eth_chainId net_version eth_getBlockReceipts core_getLogs send_transaction
  get_consensus registry_accountList`.split(/\s+/);

/** A line of the page, and the answer that stands below it. */
interface Line {
  line: string;
  answer: string | undefined;
}

let workspace: Workspace;
let cli: CliProcess | undefined;
let networksFile: string;
let networks: string;
const nodes = new Map<number, ReplayNode>();
const rollupGas: unknown[] = [];
let gateway: string;
let apiKey: string;

beforeAll(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  const evm = await loadAnswers(path.join(recordings, 'evm.json'));
  const answers = async (file: string) => ({ answers: await loadAnswers(path.join(recordings, file)) });
  const twelve = generateChain({ length: 12 });
  const options = {
    9101: { blocks: twelve, answers: evm },
    9102: { blocks: twelve, answers: evm },
    9103: {
      blocks: generateChain({ length: 8, chainId: 8453 }),
      chainId: 8453,
      answers: evm,
      observe: ({ method, params }: { method: string; params: readonly unknown[] }) => {
        if (method === 'eth_call') rollupGas.push((params[0] as { gas?: unknown }).gas);
      },
    },
    9104: await answers('core.json'),
    9105: await answers('cell.json'),
    9106: await answers('registry.json'),
  };
  networks = await readFile(path.join(root, 'docs/gateway-demo.yaml'), 'utf8');
  for (const [port, option] of Object.entries(options)) {
    const node = await createReplayNode(option);
    nodes.set(Number(port), node);
    networks = networks.replaceAll(`http://127.0.0.1:${port}`, node.url);
  }
  networksFile = path.join(workspace.directory, 'gateway-demo.yaml');
  await writeFile(networksFile, networks);
  cli = startCli(['local', '--json', '--data-dir', workspace.directory, '--port', String(await freePort())], {
    env: { ...workspace.env, NETWORKS_FILE: networksFile },
  });
  const ready = (await cli.event('ready')) as unknown as { gateway: string; apiKey: string };
  ({ gateway, apiKey } = ready);
});
afterAll(async () => {
  await end(cli);
  for (const node of nodes.values()) await node.close();
  await workspace?.remove();
});

/** The lines of all `sh` blocks, in order; `#>` stands before an answer. */
function linesOf(page: string): Line[] {
  const lines = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap((block) =>
    (block[1] as string).split('\n'),
  );
  return lines.flatMap((line, at) => {
    if (line === '' || line.startsWith('#')) return [];
    const below = lines[at + 1];
    return [{ line, answer: below?.startsWith('#> ') ? below.slice(3) : undefined }];
  });
}

/** An answer as the page has it, `…` for what is left out. */
function pattern(answer: string): RegExp {
  const pieces = answer.split('…').map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pieces.join('.*')}$`, 's');
}

test('every line of the gateway page gives the answer that stands below it', async () => {
  const lines = linesOf(await readFile(path.join(root, 'docs/gateway.md'), 'utf8'));
  const called = new Set(
    lines.flatMap(({ line }) => [...line.matchAll(/"method":"(\w+)"/g)].map(([, name]) => name)),
  );
  for (const method of METHODS) expect(called).toContain(method);
  expect(lines.some(({ line }) => line.includes('nft-api/refresh'))).toBe(true);
  // One shell for all, since variables go on from line to line.
  const mark = '===next===';
  const script = lines.map(({ line }) => `${line}\necho\necho ${mark}`).join('\n');
  const { stdout } = await shell('sh', ['-c', script], {
    env: { PATH: process.env.PATH, HOST: gateway, KEY: apiKey, JSON: 'Content-Type: application/json' },
    maxBuffer: 64 << 20,
  });
  const said = stdout.split(`${mark}\n`);
  for (const [at, { line, answer }] of lines.entries()) {
    if (answer !== undefined) expect((said[at] as string).trim(), line).toMatch(pattern(answer));
  }
  expect(rollupGas).toEqual(['0x2faf080']);
});

test('a network that comes into the file is served without a restart, and one that leaves it is gone', async () => {
  const call = (network: string): Promise<Response> =>
    fetch(`${gateway}/${network}/v1/${apiKey}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}',
    });
  expect((await call('second')).status).toBe(404);
  await writeFile(networksFile, networks.replace('id: rollup', 'id: second'));
  await vi.waitFor(async () => expect((await call('second')).status).toBe(200), {
    timeout: 120_000,
    interval: 100,
  });
  expect(await (await call('second')).json()).toEqual({ jsonrpc: '2.0', id: 1, result: '0x2105' });
  expect((await call('rollup')).status).toBe(404);
  expect((await call('main')).status).toBe(200);
});

test('the doctor finds nothing wrong with the networks of the page', async () => {
  await writeFile(networksFile, networks);
  const run = startCli(['doctor', '--networks', networksFile], { env: workspace.env });
  expect(await run.exit, run.stdout()).toBe(0);
  expect(run.stdout()).toMatch(/^main +second +ok \d+ ms +ok 1 +ok 13\/13 +ok 0 +ok 12 +ok 12 /m);
});
