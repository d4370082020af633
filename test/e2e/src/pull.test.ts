import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { KINDS } from '@packhouse/chain';
import type { Program } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { downloadAll } from '@packhouse/rig';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startCli } from './cli-process.js';
import { type GatewayReader, gatewayReader } from './gateway-reader.js';
import { writeNetworksFile } from './networks-file.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace, type Workspace } from './workspace.js';

// One block a file: many small files to be killed between. The last test ends the system.
const FIRST = 1_000;
const LENGTH = 80;
const END = FIRST + LENGTH;
/** PULL_KILLS=50 for a long run. */
const KILLS = Number(process.env.PULL_KILLS ?? (process.env.SEEDS === 'many' ? 12 : 3));
let workspace: Workspace;
let node: ReplayNode;
let cli: Program | undefined;
let gateway: GatewayReader;
beforeAll(async () => {
  workspace = await makeWorkspace(inject('postgresUrl'));
  node = await createReplayNode({
    blocks: generateChain({ length: LENGTH, txsPerBlock: 1, logsPerTx: 2, seed: 5, startNumber: FIRST }),
  });
  const networks = await writeNetworksFile(workspace, node.url, 1);
  cli = startLocal(workspace, {
    from: FIRST,
    to: END - 1,
    once: false,
    env: { NETWORKS_FILE: networks },
  });
  gateway = await gatewayReader(cli);
  await cli.event('progress', (event) => event.published === LENGTH);
});
afterAll(async () => {
  await end(cli);
  await node?.close();
  await workspace?.remove();
});

/** The headers of the chain. */
async function generated(): Promise<{ number: string; timestamp: string }[]> {
  const chain = await generateChain({
    length: LENGTH,
    txsPerBlock: 1,
    logsPerTx: 2,
    seed: 5,
    startNumber: FIRST,
  });
  return [...chain].map(({ block }) => block as unknown as { number: string; timestamp: string });
}

function pull(out: string, ...args: string[]): Program {
  return startCli(['pull', gateway.baseUrl, '--kinds', 'logs', '--out', out, '--json', ...args], {
    cwd: workspace.directory,
    env: { PACKHOUSE_API_KEY: gateway.apiKey },
  });
}

async function verified(out: string): Promise<void> {
  const verify = startCli(['verify', out, '--json', '--complete'], { cwd: workspace.directory });
  expect(await verify.exit, verify.stdout() + verify.stderr()).toBe(0);
  expect(verify.events.at(-1)).toMatchObject({ event: 'end', ok: true, files: LENGTH, endNotVerified: [] });
}

test('a pull is what packhouse verify accepts, and a second one asks once', async () => {
  const first = pull('whole');
  expect(await first.exit, first.stderr()).toBe(0);
  expect(first.stderr()).toContain('New trusted signing key');
  expect(first.events.filter(({ event }) => event === 'file')).toHaveLength(LENGTH);
  expect(first.events.at(-1)).toMatchObject({ event: 'end', ok: true, files: LENGTH, downloaded: LENGTH });
  await verified('whole');
  const second = pull('whole');
  expect(await second.exit).toBe(0);
  expect(second.events).toEqual([
    expect.objectContaining({ event: 'end', ok: true, downloaded: 0, requests: 1 }),
  ]);
});

test('a dry run says what it would take, and leaves no folder', async () => {
  const dry = pull('nothing', '--dry-run', '--from', '1010', '--to', '+20');
  expect(await dry.exit, dry.stderr()).toBe(0);
  expect(dry.events).toEqual([
    expect.objectContaining({ event: 'quote', from: 1_010, to: 1_029, files: 20, whole: true, missing: [] }),
  ]);
  expect(await readdir(workspace.directory)).not.toContain('nothing');
  const more = pull('nothing', '--dry-run', '--from', `${END - 10}`, '--to', `${END + 10}`);
  expect(await more.exit).toBe(2);
  expect(more.events[0]).toMatchObject({ files: 10, whole: false, missing: [{ from: END }] });
});

test('blocks that are not published are refused, and with --partial the rest is pulled, with exit code 2', async () => {
  const args = ['--from', `${END - 2}`, '--to', `${END + 1}`];
  const refused = pull('part', ...args);
  expect(await refused.exit).toBe(2);
  expect(refused.stderr()).toMatch(
    new RegExp(`Not published of logs are the blocks ${END}-${END + 1} \\(.*RANGE_INCOMPLETE`),
  );
  const partial = pull('part', ...args, '--partial');
  expect(await partial.exit).toBe(2);
  expect(partial.events.at(-1)).toMatchObject({ event: 'end', ok: false, downloaded: 2, faults: 0 });
  const verify = startCli(['verify', 'part'], { cwd: workspace.directory });
  expect(await verify.exit, verify.stdout() + verify.stderr()).toBe(0);
  expect(verify.stdout()).toMatch(
    /^2 valid files .* 2 manifest entries verified, .*; part of the manifest, in which a newer version of a file may be left out \(logs of main\)\.$/m,
  );
});

test('rows go to stdout, and what is said about them to stderr', async () => {
  const rows = pull('-', '--format', 'jsonl', '--from', '1010', '--to', '+20');
  expect(await rows.exit, rows.stderr()).toBe(0);
  expect(rows.events).toHaveLength(44);
  const numbers = rows.events.map((event) => event.block_number as number);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  // The node leaves the time out of logs: it is that of the proved header, from the signed filter.
  const headers = new Map(
    (await generated()).map(({ number, timestamp }) => [Number(number), Number(timestamp)]),
  );
  for (const { block_number, block_timestamp } of rows.events) {
    expect(Date.parse(block_timestamp as string) / 1_000).toBe(headers.get(block_number as number));
  }
  expect(rows.stderr()).toMatch(/"event":"end","ok":true,.*"from":1010,"to":1029,.*"rows":44/);

  const { address } = rows.events[0] as unknown as { address: string };
  const wanted = rows.events.filter((event) => (event as { address?: unknown }).address === address).length;
  await writeFile(path.join(workspace.directory, 'abi.txt'), 'event Unknown(uint256 a)');
  const range = ['--from', '1010', '--to', '+20'];
  const chosen = pull('-', '--format', 'jsonl', ...range, '--address', address, '--abi', 'abi.txt');
  expect(await chosen.exit, chosen.stderr()).toBe(0);
  expect(chosen.events).toHaveLength(wanted);
  expect(chosen.events[0]).toMatchObject({ address, event: null, arg_a: null });
  expect(chosen.stderr()).toContain(`"undecoded":${wanted}`);
});

test('several kinds are pulled at once, as the columns and files of another program', async () => {
  const several = startCli(
    [
      'pull',
      gateway.baseUrl,
      '--kinds',
      'logs,transactions',
      '--out',
      'several',
      '--format',
      'csv',
      '--schema',
      'cryo',
    ],
    { cwd: workspace.directory, env: { PACKHOUSE_API_KEY: gateway.apiKey } },
  );
  expect(await several.exit, several.stderr()).toBe(0);
  const lines = async (kind: string): Promise<string[]> => {
    const name = `main__${kind}__0000${FIRST}_to_0000${END - 1}.csv`;
    return (await readFile(path.join(workspace.directory, 'several', kind, name), 'utf8'))
      .trimEnd()
      .split('\n');
  };
  expect((await lines('logs')).length).toBeGreaterThan(LENGTH * 2);
  const [header, first = ''] = await lines('transactions');
  expect(header).toMatch(/^block_number,transaction_index,transaction_hash,nonce,.*,success,.*,chain_id$/);
  // The outcome is that of the receipt.
  expect(first.split(',')[header?.split(',').indexOf('success') ?? -1]).toMatch(/^(true|false)$/);
});

/** The files under their final names: what is in them, and which file each is. */
async function filesIn(folder: string): Promise<Map<string, { sha256: string; inode: number }>> {
  const names = await readdir(folder).catch(() => []);
  const whole = names.filter((name) => name.endsWith('.json.gz'));
  return new Map(
    await Promise.all(
      whole.map(async (name) => {
        const full = path.join(folder, name);
        const sha256 = createHash('sha256')
          .update(await readFile(full))
          .digest('hex');
        return [name, { sha256, inode: (await stat(full)).ino }] as const;
      }),
    ),
  );
}

test(`a pull that is killed ${KILLS} times has every file whole, and none was downloaded twice`, async () => {
  const expected = new Map<string, string>();
  for (const line of (await readFile(path.join(workspace.directory, 'whole', '_logs.jsonl'), 'utf8'))
    .trim()
    .split('\n')) {
    const { from, to, sha256 } = JSON.parse(line) as { from: number; to: number; sha256: string };
    expected.set(`${from}-${to}.json.gz`, sha256);
  }
  let [kills, round] = [0, 0];
  let before = new Map<string, { inode: number }>();
  while (kills < KILLS) {
    const out = `killed-${round}`;
    const run = pull(out);
    // Seeded by the number of the kill: at the first sign of life, or some files later.
    const wanted = (kills * 7) % 4;
    const seen = run
      .event(wanted === 0 ? 'progress' : 'file', () => run.events.length >= wanted)
      .catch(() => undefined);
    if (wanted === 0) run.child.stderr?.once('data', () => run.child.kill('SIGKILL'));
    void seen.then(() => run.child.kill('SIGKILL'));
    const ended = await run.exit;
    if (ended === 'SIGKILL') kills += 1;
    else expect(ended, run.stderr()).toBe(0);
    const files = await filesIn(path.join(workspace.directory, out, 'logs'));
    for (const [name, { sha256, inode }] of files) {
      expect(sha256, name).toBe(expected.get(name));
      expect(before.get(name)?.inode ?? inode, `${name} is the file that it was`).toBe(inode);
    }
    for (const name of before.keys()) expect(files.has(name), name).toBe(true);
    before = files;
    if (ended === 0) {
      round += 1;
      before = new Map();
    }
  }
  const last = pull(`killed-${round}`);
  expect(await last.exit, last.stderr()).toBe(0);
  await verified(`killed-${round}`);
  const names = await readdir(path.join(workspace.directory, `killed-${round}`, 'logs'));
  expect(names.filter((name) => !name.endsWith('.json.gz'))).toEqual([]);
});

async function run(...args: string[]): Promise<{ code: number | NodeJS.Signals; out: string; err: string }> {
  const one = startCli(args, { cwd: path.join(workspace.directory, 'downloads') });
  return { code: await one.exit, out: one.stdout(), err: one.stderr() };
}

test('what is downloaded is verified offline, and one flipped bit in it is named', async () => {
  const files = await downloadAll(path.join(workspace.directory, 'downloads'), gateway, KINDS);
  const online = await run('verify', '.', '--manifest', gateway.baseUrl, '--api-key', gateway.apiKey);
  expect(online).toMatchObject({ code: 0, err: '' });
  await end(cli);

  const whole = await run('verify', '.', '--complete');
  expect(whole).toMatchObject({ code: 0, err: '' });
  expect(whole.out).toContain(`${files} valid files`);
  expect(whole.out).toContain('no damage, 0 missing');

  // The manifest names the node that gave the blocks, and nobody else can read the key that signs.
  const manifest = await readFile(path.join(workspace.directory, 'downloads', 'logs.jsonl'), 'utf8');
  const [entry] = manifest
    .split('\n')
    .map((line) => JSON.parse(line || 'null') as { clients: string[]; from: number; to: number });
  expect(entry?.clients).toEqual(['PackhouseReplay/0.1.0']);
  expect((await stat(path.join(workspace.directory, 'signing-key.pem'))).mode & 0o777).toBe(0o600);

  const name = `logs/${entry?.from}-${entry?.to}.json.gz`;
  const file = path.join(workspace.directory, 'downloads', name);
  const bytes = await readFile(file);
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] as number) ^ 0x10;
  await writeFile(file, bytes);
  const flipped = await run('verify', '.');
  expect(flipped).toMatchObject({ code: 2, err: '' });
  expect(flipped.out.split('\n')[0]).toMatch(new RegExp(`^${name} is damaged: its sha256 is `));
  expect(flipped.out).toContain(`${files - 1} valid files`);
});
