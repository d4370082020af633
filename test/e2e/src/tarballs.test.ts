import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createReplayNode, generateChain } from '@packhouse/replay-node';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { gatewayReader } from './gateway-reader.js';
import { root } from './pasted.js';
import { startLocal } from './start-local.js';
import { end, makeWorkspace } from './workspace.js';

const run = promisify(execFile);

let folder: string;
let packages: string[];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-tarballs-'));
  await run(process.execPath, [path.join(root, 'infra/bootstrap/pack.mjs'), path.join(folder, 'packed')]);
  packages = await readdir(path.join(folder, 'packed'));
  for (const tarball of packages) await unpack(tarball);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Puts a package where npm would, with what it declares of other publishers from this repository, and nothing else. */
async function unpack(tarball: string): Promise<void> {
  const name = `@packhouse/${/^packhouse-(.+)-\d+\.\d+\.\d+\.tgz$/.exec(tarball)?.[1]}`;
  const modules = path.join(folder, 'node_modules');
  const target = path.join(modules, name);
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', path.join(folder, 'packed', tarball), '-C', target, '--strip-components=1']);
  const { dependencies, optionalDependencies } = JSON.parse(
    await readFile(path.join(target, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string> | undefined>;
  const workspace = await realpath(path.join(root, 'node_modules', name));
  for (const each of Object.keys({ ...dependencies, ...optionalDependencies })) {
    if (each.startsWith('@packhouse/')) continue;
    const own = path.join(workspace, 'node_modules', each);
    const [from, to] = existsSync(own)
      ? [own, path.join(target, 'node_modules', each)]
      : [path.join(root, 'node_modules', each), path.join(modules, each)];
    if (!existsSync(from) || existsSync(to)) continue;
    await mkdir(path.dirname(to), { recursive: true });
    await symlink(from, to);
  }
}

async function packhouse(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const program = path.join(folder, 'node_modules/@packhouse/cli/bin/packhouse.js');
  const options = { cwd: folder, env: { PATH: process.env.PATH, ...env } };
  return (await run(process.execPath, [program, ...args], options)).stdout;
}

test('the packages have what runs, and neither sources nor tests', async () => {
  expect(packages).toContain('packhouse-client-0.1.0.tgz');
  for (const tarball of packages) {
    const { stdout } = await run('tar', ['-tzf', path.join(folder, 'packed', tarball)]);
    const files = stdout.trim().split('\n');
    expect(files).toEqual(expect.arrayContaining(['package/package.json', 'package/README.md']));
    expect(
      files.filter(
        (file) =>
          !/^package\/(dist\/.*(\.js|\.d\.ts)|dist\/web\/.*\.(html|css)|bin\/.*\.js|[^/]+)$/.test(file),
      ),
    ).toEqual([]);
    expect(files.filter((file) => /\/(testing|src)\/|\.test\./.test(file))).toEqual([]);
  }
});

test('what the packages declare is all that the command line program needs', async () => {
  expect(await packhouse(['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await packhouse(['pull', '--help'])).toContain('Usage: packhouse pull');
});

test('they pull from a gateway, a second time nothing, and verify what they have', async () => {
  const workspace = await makeWorkspace(inject('postgresUrl'));
  const blocks = generateChain({ length: 40, txsPerBlock: 2, logsPerTx: 2, startNumber: 1_000 });
  const node = await createReplayNode({ blocks });
  const cli = startLocal(workspace, { rpc: [node.url], from: 1_000, to: 1_039, once: false });
  try {
    const gateway = await gatewayReader(cli);
    await cli.event('progress', (event) => event.published === 40);
    const url = gateway.baseUrl.replace(/\/v1\/.*$/, '');
    const pull = async (): Promise<object> => {
      const args = [
        'pull',
        url,
        '--kind',
        'logs',
        '--from',
        '1010',
        '--to',
        '+10',
        '--out',
        'logs',
        '--json',
      ];
      const lines = (await packhouse(args, { PACKHOUSE_API_KEY: gateway.apiKey })).trim().split('\n');
      return JSON.parse(lines.at(-1) ?? '') as object;
    };
    const first = await pull();
    const names = await readdir(path.join(folder, 'logs/logs'));
    expect(names.length).toBeGreaterThan(0);
    expect(first).toMatchObject({ event: 'end', ok: true, downloaded: names.length, faults: 0 });
    for (const name of names) {
      const link = `${gateway.downloadUrl}/logs/${name}`;
      const answer = await fetch(link, { headers: { authorization: `Bearer ${gateway.apiKey}` } });
      const file = await readFile(path.join(folder, 'logs/logs', name));
      expect(file.equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
    }
    expect(await pull()).toMatchObject({ event: 'end', ok: true, downloaded: 0 });
    expect(await packhouse(['verify', 'logs'])).toContain('no damage, 0 missing');
  } finally {
    await end(cli);
    await node.close();
    await workspace.remove();
  }
});

test('the client is a library of the packages alone', async () => {
  const script = "import * as client from '@packhouse/client'; console.log(Object.keys(client).join());";
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: folder });
  expect(stdout.trim().split(',')).toContain('createHttp');
});
