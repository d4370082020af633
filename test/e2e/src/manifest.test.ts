import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import type { Program } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { downloadAll } from '@packhouse/rig';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { gatewayReader } from './gateway-reader.js';
import { openDatabase } from './open-database.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// What a downloader does: files, manifests and keys over HTTP, then offline, with nothing but the folder.
const FIRST = 1_000;
const LAST = 1_039;
let workspace: Workspace;
let node: ReplayNode;
let cli: Program;
beforeEach(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  node = await createReplayNode({
    blocks: generateChain({
      length: LAST - FIRST + 1,
      txsPerBlock: 4,
      logsPerTx: 2,
      seed: 41,
      startNumber: FIRST,
    }),
  });
});
afterEach(async () => {
  await end(cli);
  await node.close();
  await workspace.remove();
});

async function run(...args: string[]): Promise<{ code: number | NodeJS.Signals; out: string; err: string }> {
  const one = startCli(args, { cwd: path.join(workspace.directory, 'downloads') });
  return { code: await one.exit, out: one.stdout(), err: one.stderr() };
}

test('what a repair published is signed without any new block, by the repair or by a packer, and verifies', async () => {
  cli = startLocal(workspace, { rpc: [node.url], from: FIRST, to: LAST, once: false });
  const gateway = await gatewayReader(cli);
  await cli.event('progress', (event) => event.published === LAST - FIRST + 1);
  const versions = async (): Promise<number[]> => {
    const asked = await fetch(`${gateway.baseUrl}${gateway.apiKey}/bundle-api/manifest?kind=logs`);
    const lines = (await asked.text()).trimEnd().split('\n');
    return lines.map((line) => (JSON.parse(line) as { version: number }).version);
  };
  const repair = async (env: Record<string, string>): Promise<Program> => {
    const folder = path.join(workspace.directory, 'objects');
    const database = openDatabase(workspace.databaseUrl);
    const [network] = await database.networks.list();
    const [row] = await database.network(network?.id as string).bundles.list('logs', 0, 1);
    await database.close();
    await writeFile(path.join(folder, row?.objectKey as string), 'damaged');
    const one = startCli(['audit', '--repair', '--data-dir', workspace.directory], {
      env: { ...workspace.env, ...env },
    });
    expect(await one.exit, one.stderr()).toBe(0);
    expect(one.stdout()).toContain('1 of 1 repaired');
    return one;
  };
  const before = await versions();

  expect((await repair({})).stdout()).not.toContain('wait');
  expect(await versions()).toEqual([...before, 2]);

  const unusable = path.join(workspace.directory, 'unusable.pem');
  await writeFile(unusable, 'no key');
  const unsigned = await repair({ SIGNING_KEY_FILE: unusable });
  expect(unsigned.stderr()).toContain('[SIGNING_KEY_INVALID]');
  expect(unsigned.stdout()).toMatch(/\n1 manifest entry to be signed by a packer\.\n$/);
  await expect.poll(versions, { timeout: 120_000 }).toEqual([...before, 2, 3]);

  await downloadAll(path.join(workspace.directory, 'downloads'), gateway, KINDS);
  await end(cli);
  expect(await run('verify', '.', '--complete')).toMatchObject({ code: 0, err: '' });
});

test('a signing key that is gone is said in one sentence, and rotating it is the way out', async () => {
  cli = startLocal(workspace, { rpc: [node.url], from: FIRST, to: FIRST + 9 });
  expect(await cli.exit).toBe(0);
  const key = path.join(workspace.directory, 'signing-key.pem');
  await rm(key);
  cli = startLocal(workspace, { rpc: [node.url], from: FIRST, to: LAST });
  expect(await cli.exit).toBe(78);
  expect(cli.stderr()).toMatch(
    /^packhouse: The manifest is signed with key [0-9a-f]{16}, and there is no signing key in .*\[SIGNING_KEY_MISSING\]\n$/,
  );

  await mkdir(path.join(workspace.directory, 'downloads'));
  const rotate = startCli(['manifest', 'rotate', '--key-file', key], { env: workspace.env });
  expect(await rotate.exit).toBe(0);
  cli = startLocal(workspace, { rpc: [node.url], from: FIRST, to: LAST });
  expect(await cli.exit).toBe(0);

  const database = openDatabase(workspace.databaseUrl);
  const [network] = await database.networks.list();
  const keys = await database.manifest.keys();
  const used = new Set(
    (await database.network(network?.id as string).manifest.entries('blocks', -1, 1_000)).map(
      (entry) => entry.keyId,
    ),
  );
  await database.close();
  expect(used).toEqual(new Set(keys.map((row) => row.keyId)));
  expect(used.size).toBe(2);
});
