import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { freePort, listenToNotify, type NotifySocket } from '@packhouse/local';
import { createReplayNode, generateChain, type ReplayNode } from '@packhouse/replay-node';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Pasted, pastedOfSection } from './page-section.js';
import { isOnPath, paste, pattern, root } from './pasted.js';
import { checkPublished } from './published.js';
import { readUnit, type UnitFile } from './unit-file.js';
import { makeWorkspace, type Workspace } from './workspace.js';

const NEEDED = ['systemd-sysusers', 'systemd-tmpfiles', 'systemd-notify', 'setpriv', 'unshare', 'perl'];
const missing = process.getuid?.() === 0 ? NEEDED.find((name) => !isOnPath(name)) : 'root';
const chain = generateChain({ length: 12, txsPerBlock: 3, logsPerTx: 2 });
/** How a service of systemd finds programs. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/**
 * Writes nowhere but in the folders before `--`, as ProtectSystem=strict has it, with no right of root and this umask.
 * Volumes of their own below / stay writable for those who may.
 */
const CONFINED = `umask "$1"; user="$2"; group="$3"; shift 3
while [ "$1" != -- ]; do mount --bind "$1" "$1"; shift; done; shift
mount -o remount,bind,ro /
exec setpriv --reuid="$user" --regid="$group" --clear-groups --bounding-set=-all --no-new-privs "$@"`;

let workspace: Workspace;
let node: ReplayNode;
/** What stands for / of a machine of its own. */
let machine: string;
let ports: Record<'gateway' | 'console', string>;
let notified: NotifySocket | undefined;
const running: { name: string; child: ChildProcess; log(): string }[] = [];

beforeAll(async () => {
  if (missing !== undefined) return;
  workspace = await makeWorkspace(inject('postgresUrl'));
  node = await createReplayNode({ blocks: chain });
  machine = path.join(workspace.directory, 'machine');
  await mkdir(path.join(machine, 'etc'), { recursive: true });
  await mkdir(path.join(machine, 'root'));
  for (const each of [workspace.directory, machine]) await chmod(each, 0o755);
  ports = { gateway: String(await freePort()), console: String(await freePort()) };
});
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  notified?.close();
  await node?.close();
  await workspace?.remove();
});

/** Paths and addresses of this test in the place of those of the page and of the units. */
function local(text: string): string {
  return text
    .replaceAll(/(?<![\w/])\/(etc|var\/lib\/packhouse)\b/g, `${machine}/$1`)
    .replaceAll('/opt/packhouse', root.replace(/\/$/, ''))
    .replaceAll(/postgres:\/\/packhouse\S*/g, workspace.databaseUrl)
    .replaceAll('http://127.0.0.1:9201', node.url)
    .replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${ports.gateway}`);
}

/** Pastes blocks of the page as root of that machine, whose systemctl does nothing; returns their lines. */
async function pasteBlocks(blocks: readonly Pasted[]): Promise<string[]> {
  const group = await stat(path.join(machine, 'var/lib/packhouse')).catch(() => undefined);
  const script = blocks.map(({ text }) => local(text)).join('');
  const functions = `systemctl() { :; }
systemd-sysusers() { command systemd-sysusers --root=${machine} "$@"; }
systemd-tmpfiles() { command systemd-tmpfiles --root=${machine} "$@"; }
`;
  const shell = paste(
    'bash',
    functions + script.replaceAll('root:packhouse', `0:${group?.gid ?? 0}`),
    {},
    path.join(machine, 'root'),
  );
  try {
    return (await shell.output).split('\n');
  } finally {
    shell.end();
  }
}

/** The account that systemd-sysusers made. */
async function accountOf(user: string): Promise<{ uid: number; gid: number }> {
  const accounts = await readFile(path.join(machine, 'etc/passwd'), 'utf8');
  const [, uid, gid] = new RegExp(`^${user}:[^:]*:(\\d+):(\\d+):`, 'm').exec(accounts) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** Starts a unit and waits for what systemctl waits for. */
async function startUnit(name: string): Promise<void> {
  const [, role = '', instance = ''] = /^(packhouse-\w+@?)(\d?)$/.exec(name) ?? [];
  const credentials = path.join(machine, 'run/credentials', name);
  const file = path.join(machine, `etc/systemd/system/${role}.service`);
  const text = local(await readFile(file, 'utf8'));
  const unit = readUnit(text, { i: instance, d: credentials }, (settings) => readFileSync(settings, 'utf8'));
  const { uid, gid } = await accountOf(unit.user);
  await mkdir(credentials, { recursive: true });
  for (const [credential, from] of Object.entries(unit.credentials)) {
    await copyFile(from, path.join(credentials, credential));
    await chmod(path.join(credentials, credential), 0o400);
    await chown(path.join(credentials, credential), uid, gid);
  }
  const socket = path.join(machine, 'run', `${name}.notify`);
  const heard = unit.notifies ? await listenToNotify(socket) : undefined;
  notified = heard;
  const confined = ['--mount', 'sh', '-e', '-c', CONFINED, 'sh', unit.umask, String(uid), String(gid)];
  const child = spawn('unshare', [...confined, ...unit.writable, '--', ...unit.command], {
    cwd: unit.directory,
    env: await environment(unit, socket),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (more: Buffer) => (log += more.toString()));
  if (heard === undefined) {
    const [code] = await once(child, 'close');
    expect(code, log).toBe(0);
    return;
  }
  running.push({ name, child, log: () => log });
  const state = (): string => (child.exitCode === null ? heard.messages() : `it has ended: ${log}`);
  await expect.poll(state, { timeout: 180_000, interval: 50 }).toContain('READY=1');
  heard.close();
}

/** The variables of a unit, on ports that are free here. */
async function environment(unit: UnitFile, socket: string): Promise<Record<string, string>> {
  const env: Record<string, string> = { PATH, ...unit.env, PORT: ports.gateway, CONSOLE_PORT: ports.console };
  if (unit.notifies) Object.assign(env, { NOTIFY_SOCKET: socket, METRICS_PORT: String(await freePort()) });
  return env;
}

test.skipIf(missing !== undefined)(
  'from the units to the first download, as docs/operating.md says, with no right but those of the units (needs root, systemd, setpriv, unshare and perl)',
  async ({ skip }) => {
    const build = path.join(root, 'apps/cli/dist/main.js');
    const nobody = ['--reuid=65532', '--regid=65532', '--clear-groups', 'test', '-r', build];
    skip(spawnSync('setpriv', nobody).status !== 0, 'only root can read this folder');
    const blocks = await pastedOfSection('docs/operating.md', 'systemd');
    const [install, write, start, download] = blocks as [Pasted, Pasted, Pasted, Pasted];
    expect(blocks).toHaveLength(4);
    await pasteBlocks([install]);
    await pasteBlocks([write]);
    const etc = path.join(machine, 'etc/packhouse');
    for (const name of await readdir(etc))
      expect((await stat(path.join(etc, name))).mode & 0o7, name).toBe(0);
    const units = [...start.text.matchAll(/\bpackhouse-\w+(?:@\d)?/g)].map(([name]) => name);
    expect(units.map((name) => name.replace(/^packhouse-|@\d$/g, ''))).toEqual([
      'migrate',
      'gateway',
      'ingester',
      'packer',
      'console',
    ]);
    for (const name of units) await startUnit(name);
    const lines = await pasteBlocks([download]);
    expect(lines.slice(0, -1), lines.join('\n')).toHaveLength(download.answers.length);
    for (const [line, answer] of download.answers.entries())
      expect(lines[line]?.replaceAll(/ +/g, ' ')).toMatch(pattern(answer));
    await checkPublished(
      { ...workspace, directory: path.join(machine, 'var/lib/packhouse') },
      chain,
      'mainnet',
    );
    for (const { name, child, log } of running) {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      expect(child.exitCode, `${name}: ${log()}`).toBe(0);
      expect(log()).not.toMatch(/EROFS|EACCES|EPERM/);
    }
  },
);
