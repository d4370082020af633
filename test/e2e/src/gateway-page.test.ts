import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import { freePort, type Program } from '@packhouse/local';
import { createReplayNode, generateChain, loadAnswers, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { startCli } from './cli-process.js';
import { longer } from './longer.js';
import { openDatabase } from './open-database.js';
import { getBlocks, isOnPath, paste, pattern, root, shells } from './pasted.js';
import { checkPublished } from './published.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

const recordings = path.join(root, 'test/replay-node/recordings');

let workspace: Workspace;
let cli: Program | undefined;
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

test('the gateway page calls every method, and its blocks are to be pasted', async () => {
  const whole = await readFile(path.join(root, 'packages/networks/src/method-families.ts'), 'utf8');
  // Behind them stands what clients cannot call.
  const [source = ''] = whole.split('const OWN_METHODS');
  const offered = [...source.matchAll(/'([a-z]+\d?_\w+)'/g)].map(([, name]) => name as string);
  expect(offered).toContain('web3_sha3');
  const blocks = await getBlocks('docs/gateway.md');
  const called = blocks.flatMap(({ text }) =>
    [...text.matchAll(/"method":"(\w+)"/g)].map(([, name]) => name),
  );
  // das_accountList is what nodes call it.
  for (const method of offered) if (method !== 'das_accountList') expect(called).toContain(method);
  expect(blocks.some(({ text }) => text.includes('nft-api/refresh'))).toBe(true);
  // A line of a comment is a command to zsh, and one of its answers would be written into a file.
  for (const { text } of blocks) expect(text).not.toMatch(/^\s*[#$%>]|^node\(|!/m);
});

for (const name of shells) {
  test.skipIf(!isOnPath(name))(
    `every line of the gateway page, pasted into ${name}, gives the answer that stands below it (needs ${name})`,
    async () => {
      const blocks = await getBlocks('docs/gateway.md');
      const first = blocks.findIndex(({ text }) => text.startsWith('HOST='));
      const pasted = blocks.slice(first);
      const mark = 'next-block';
      const script = pasted.map(({ text }) => `${text}echo ${mark}\n`).join('');
      const page = script.replaceAll('http://127.0.0.1:8080', gateway);
      const said = (await paste(name, page, workspace.env).output).split(`${mark}\n`);
      for (const [at, { text, answers }] of pasted.entries()) {
        const lines = (said[at] as string).split('\n').filter((line) => line !== '');
        if (answers.length > 0) expect(lines, text).toHaveLength(answers.length);
        for (const [line, answer] of answers.entries()) expect(lines[line], text).toMatch(pattern(answer));
      }
      expect(new Set(rollupGas)).toEqual(new Set(['0x2faf080']));
    },
  );
}

longer(
  'the nodes of the gateway page start as it says, and the doctor finds nothing wrong with them',
  async () => {
    const blocks = await getBlocks('docs/gateway.md');
    const at = blocks.findIndex(({ text }) => text.includes('--port 9101'));
    const [starting, examining] = blocks.slice(at, at + 2).map(({ text }) => text);
    let script = `${starting}echo the nodes answer\n${examining}`;
    let file = await readFile(path.join(root, 'docs/gateway-demo.yaml'), 'utf8');
    for (const port of nodes.keys()) {
      const free = String(await freePort());
      script = script.replaceAll(String(port), free);
      file = file.replaceAll(String(port), free);
    }
    const demo = path.join(workspace.directory, 'pasted.yaml');
    await writeFile(demo, file);
    const shell = paste('bash', script.replace('docs/gateway-demo.yaml', demo), {});
    try {
      const said = await shell.output;
      expect(said).toContain('the nodes answer');
      expect(said).toMatch(/^main +second +ok \d+ ms +ok 1 +ok 28\/28 +ok 0 +ok 12 +ok 12 /m);
      expect(said).not.toMatch(/\b(warn|fail)\b/);
    } finally {
      shell.end();
    }
  },
);

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

longer(
  'ingesters and packers take a network up without a restart, and a kill in the middle loses nothing',
  async () => {
    const database = openDatabase(workspace.databaseUrl);
    const known = async (): Promise<string[]> =>
      (await database.workers.list()).flatMap((worker) => worker.networks);
    const WAIT = { timeout: 120_000 };
    try {
      await expect.poll(async () => (await database.workers.list()).length, WAIT).toBe(2);
      expect(await known()).toEqual([]);
      const fresh = (name: string): string =>
        `  - {id: fresh, family: evm, chainId: 1, upstreams: [{name: ${name}, url: '${nodes.get(9101)?.url}'}], bundles: {maxBlocks: 2}}\n`;
      await writeFile(networksFile, networks + fresh('before'));
      await expect.poll(known, WAIT).toEqual(['fresh', 'fresh']);
      await database.networks.register({ id: 'fresh', chainId: 1 });
      await database.network('fresh').backfills.add({ kinds: [...KINDS], from: 1, to: 12, priority: 1 });
      await writeFile(networksFile, networks + fresh('after'));
      for (const { pid } of await database.workers.list()) process.kill(pid, 'SIGKILL');
      await expect
        .poll(async () => (await database.network('fresh').holes.standing()).completeThrough, WAIT)
        .toBe(12);
    } finally {
      await database.close();
    }
    await checkPublished(workspace, generateChain({ length: 12 }), 'fresh');
  },
);
