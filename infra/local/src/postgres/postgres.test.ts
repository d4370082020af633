import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createLogger, isPackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../process/free-port.js';
import { installedPostgres, preparePostgresBinaries } from './binaries.js';
import { PASSWORD_FILE } from './data.js';
import { recordedHome, removePostgres } from './home.js';
import { removePidFile } from './pid-file.js';
import { type LocalPostgres, startPostgres } from './postgres.js';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
/** Smaller and faster than for users; durability is not tested here. */
const settings = { shared_buffers: '16MB', fsync: 'off' };

let folder: string;
let directory: string;
let running: LocalPostgres[];
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'packhouse-postgres-'));
  await chmod(folder, 0o755);
  directory = path.join(folder, 'data folder');
  running = [];
});
afterEach(async () => {
  for (const postgres of running) await postgres.stop();
  await removePostgres(directory);
  await rm(folder, { recursive: true, force: true });
});

async function start(options: Partial<Parameters<typeof startPostgres>[0]> = {}): Promise<LocalPostgres> {
  const postgres = await startPostgres({ directory, settings, ...options });
  running.push(postgres);
  return postgres;
}

async function rows(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function failure(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isPackhouseError(error)) throw new Error(`expected one of our errors, got ${String(error)}`);
  return error;
}

const gone = async (pid: number) => {
  await expect
    .poll(
      () => {
        try {
          process.kill(pid, 0);
          return true;
        } catch {
          return false;
        }
      },
      { timeout: 120_000 },
    )
    .toBe(false);
};

/** A separate process that starts Postgres and waits to be killed. */
async function startElsewhere(): Promise<{ parent: ReturnType<typeof spawn>; url: string; pid: number }> {
  const file = fileURLToPath(new URL('../testing/start-and-wait.mts', import.meta.url));
  const parent = spawn(process.execPath, ['--import', 'tsx', file, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(parent.stdout!, 'data')) as [Buffer];
  return { parent, ...(JSON.parse(line.toString()) as { url: string; pid: number }) };
}

describe('starts', () => {
  it('a server that asks for its password, keeps its data, and ends when told to', async () => {
    const first = await start();
    await rows(first.url, 'CREATE TABLE kept (id int4)');
    const stranger = new URL(first.url);
    stranger.password = 'guess';
    await expect(rows(stranger.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await first.stop();
    await first.stop();
    await gone(first.pid);

    const second = await start();
    expect(await rows(second.url, "SELECT to_regclass('kept')::text AS kept")).toEqual([{ kept: 'kept' }]);
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
    const home = await recordedHome(directory);
    expect((await stat(path.join(home, 'data', PASSWORD_FILE))).mode & 0o777).toBe(0o600);
    expect((await stat(path.join(home, 'data'))).mode & 0o777).toBe(0o700);
  });

  it('on the port that was asked for, on this machine only, with no socket file', async () => {
    const port = await freePort();
    const { url } = await start({ port });
    expect(new URL(url)).toMatchObject({ hostname: '127.0.0.1', port: String(port) });
    const text =
      "SELECT current_setting('listen_addresses') AS a, current_setting('unix_socket_directories') AS s";
    expect(await rows(url, text)).toEqual([{ a: '127.0.0.1', s: '' }]);
  });

  it('with a folder name longer than a socket path may be', async () => {
    directory = path.join(folder, 'x'.repeat(150));
    expect(await rows((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('two that were asked for the same folder in the same moment: one works, the other is refused', async () => {
    const outcomes = await Promise.allSettled([start(), start()]);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused).toMatchObject([{ code: 'DATA_DIR_BUSY' }]);
    expect(await rows(running[0]!.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('after a run that was killed', () => {
  it('stops the server that was left behind and starts anew', async () => {
    const before = await startElsewhere();
    await rows(before.url, 'CREATE TABLE kept (id int4)');
    before.parent.kill('SIGKILL');
    await once(before.parent, 'exit');
    const after = await start();
    await gone(before.pid);
    expect(await rows(after.url, "SELECT to_regclass('kept')::text AS kept")).toEqual([{ kept: 'kept' }]);
  });

  it('the server that was left behind ends by itself once its clients have left', async () => {
    const before = await startElsewhere();
    const client = new pg.Client({ connectionString: before.url });
    await client.connect();
    before.parent.kill('SIGKILL');
    await once(before.parent, 'exit');
    // Whoever is in the middle of something may finish it.
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await client.end();
    await gone(before.pid);
  });

  it('starts where the pid file was left empty', async () => {
    await (await start()).stop();
    await writeFile(path.join(await recordedHome(directory), 'data', 'postmaster.pid'), '');
    expect(await rows((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('leaves the server of a run that lives alone, and says whose it is', async () => {
    const other = await startElsewhere();
    try {
      const error = await failure(start());
      expect(error).toMatchObject({ code: 'DATA_DIR_BUSY', data: { pid: other.parent.pid } });
      expect(await rows(other.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      other.parent.kill('SIGTERM');
      await once(other.parent, 'exit');
    }
  });

  it('recovers when the server itself was killed', async () => {
    const before = await start();
    await rows(before.url, 'CREATE TABLE kept (id int4)');
    process.kill(before.pid, 'SIGKILL');
    await gone(before.pid);
    const after = await start();
    expect(await rows(after.url, "SELECT to_regclass('kept')::text AS kept")).toEqual([{ kept: 'kept' }]);
  });

  it('is not fooled by a pid file whose number belongs to another program now', async () => {
    await (await start()).stop();
    const data = path.join(await recordedHome(directory), 'data');
    await writeFile(path.join(data, 'postmaster.pid'), `${process.pid}\n${data}\n`);
    expect(await rows((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('a pid file that another start wrote meanwhile stays', async () => {
    const pidFile = path.join(folder, 'postmaster.pid');
    await writeFile(pidFile, '17\n/data\n');
    await removePidFile(pidFile, '16');
    expect(await readFile(pidFile, 'utf8')).toBe('17\n/data\n');
    await removePidFile(pidFile, '17');
    await removePidFile(pidFile, '17');
    expect(await readdir(folder)).toEqual([]);
  });

  it('begins again where initdb was killed in the middle', async () => {
    const ended = spawn(process.execPath, ['-e', '']);
    await once(ended, 'exit');
    const remains = path.join(directory, `.data.${ended.pid}.abcd`);
    await mkdir(path.join(remains, 'base'), { recursive: true });
    await writeFile(path.join(remains, 'PG_VERSION'), '18\n');
    await writeFile(path.join(directory, `.password.${ended.pid}.abcd`), 'x');
    expect(await rows((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await readdir(directory)).sort()).toEqual(['data', 'postgres.log']);
  });
});

describe('refuses', () => {
  it('data of another major version', async () => {
    await mkdir(path.join(directory, 'data'), { recursive: true });
    await writeFile(path.join(directory, 'data', 'PG_VERSION'), '19\n');
    expect(await failure(start())).toMatchObject({
      code: 'DATA_DIR_NEWER',
      message: expect.stringContaining('Postgres 19'),
    });
  });

  it('a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    try {
      expect(await failure(start({ port }))).toMatchObject({ code: 'PORT_IN_USE' });
    } finally {
      server.close();
    }
  });

  it('a folder that is a file', async () => {
    directory = path.join(folder, 'file');
    await writeFile(directory, '');
    expect(await failure(start())).toMatchObject({ code: 'DATA_DIR_UNUSABLE' });
  });

  it.runIf(isRoot && process.platform === 'linux')(
    'a disk that is full, and leaves nothing on it (needs root and mount)',
    async (context) => {
      await mkdir(directory);
      const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', directory]).then(
        () => true,
        () => false,
      );
      if (!mounted) return context.skip('this machine lets nobody mount');
      try {
        expect(await failure(start())).toMatchObject({ code: 'DISK_FULL' });
        expect(await readdir(directory)).toEqual([]);
      } finally {
        await run('umount', [directory]);
      }
    },
  );
});

describe.runIf(isRoot)('as root (needs root)', () => {
  it('runs under another account', async () => {
    const { pid } = await start();
    expect(/^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]).not.toBe('0');
  });

  it('keeps the data elsewhere when that account cannot reach the folder, and says where', async () => {
    await chmod(folder, 0o700);
    const lines: string[] = [];
    const logger = createLogger({ name: 'test', destination: { write: (line: string) => lines.push(line) } });
    const first = await start({ logger });
    await rows(first.url, 'CREATE TABLE kept (id int4)');
    await first.stop();
    const home = await recordedHome(directory);
    expect(home).not.toBe(directory);
    expect(lines.filter((line) => line.includes(home))).toHaveLength(1);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);

    const second = await start();
    expect(await rows(second.url, "SELECT to_regclass('kept')::text AS kept")).toEqual([{ kept: 'kept' }]);
    await second.stop();
    await removePostgres(directory);
    await expect(stat(home)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('starts anew when the folder was deleted, and sets the old data aside', async () => {
    await chmod(folder, 0o700);
    const first = await start();
    await rows(first.url, 'CREATE TABLE old (id int4)');
    await first.stop();
    const home = await recordedHome(directory);
    await rm(directory, { recursive: true });
    const second = await start();
    expect(await rows(second.url, "SELECT to_regclass('old') AS old")).toEqual([{ old: null }]);
    const aside = (await readdir(path.dirname(home))).filter((name) =>
      name.startsWith(`${path.basename(home)}.`),
    );
    expect(aside).toHaveLength(1);
    await rm(path.join(path.dirname(home), aside[0]!), { recursive: true });
  });
});

describe('the binaries', () => {
  const links = async (native: string) => {
    const names = await readdir(path.join(native, 'lib'));
    const found: string[] = [];
    for (const name of names) {
      if (await readlink(path.join(native, 'lib', name)).catch(() => null)) found.push(name);
    }
    return found.sort();
  };
  /** The package as npm unpacks it when it does not run install scripts. */
  const unpacked = async () => {
    const native = path.join(folder, 'package', 'native');
    await cp(installedPostgres(), native, { recursive: true, verbatimSymlinks: true });
    for (const name of await links(native)) await rm(path.join(native, 'lib', name));
    const manifest = path.join(installedPostgres(), '..', 'package.json');
    await cp(manifest, path.join(folder, 'package', 'package.json'));
    return native;
  };
  const version = async (postgres: string) => (await run(postgres, ['--version'])).stdout;

  it('work where npm ran no install script, also when ten processes find that out at once', async () => {
    const native = await unpacked();
    const all = await Promise.all(
      Array.from({ length: 10 }, () =>
        preparePostgresBinaries({ native, account: null, copyTo: path.join(folder, 'copies') }),
      ),
    );
    expect(new Set(all.map(({ postgres }) => postgres))).toEqual(
      new Set([path.join(native, 'bin', 'postgres')]),
    );
    expect(await version(all[0]!.postgres)).toContain('PostgreSQL');
    expect(await run(all[0]!.initdb, ['--version'])).toMatchObject({
      stdout: expect.stringContaining('initdb'),
    });
  });

  it.runIf(isRoot)('are copied once where the account cannot reach them (needs root)', async () => {
    const native = await unpacked();
    await chmod(path.join(folder, 'package'), 0o700);
    const account = { name: 'nobody', uid: 65_534, gid: 65_534 };
    const copies = path.join(folder, 'copies');
    const all = await Promise.all(
      Array.from({ length: 3 }, () => preparePostgresBinaries({ native, account, copyTo: copies })),
    );
    expect(new Set(all.map(({ postgres }) => path.dirname(postgres))).size).toBe(1);
    const { postgres } = all[0]!;
    expect(postgres.startsWith(copies)).toBe(true);
    expect((await run(postgres, ['--version'], { uid: 65_534, gid: 65_534 })).stdout).toContain('PostgreSQL');
    expect((await readdir(copies)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'are copied where links are missing and cannot be made (needs root and mount)',
    async (context) => {
      const native = await unpacked();
      // Root writes through modes; a folder that no link can be made in, even by root, is a read-only mount.
      if (isRoot) {
        const mounted = await run('mount', ['--bind', '-o', 'ro', native, native]).then(
          () => true,
          () => false,
        );
        if (!mounted) return context.skip('this machine lets nobody mount');
      } else {
        await chmod(path.join(native, 'lib'), 0o555);
      }
      try {
        const copies = path.join(folder, 'copies');
        const { postgres } = await preparePostgresBinaries({ native, account: null, copyTo: copies });
        expect(postgres.startsWith(copies)).toBe(true);
        expect(await version(postgres)).toContain('PostgreSQL');
      } finally {
        if (isRoot) await run('umount', [native]);
        else await chmod(path.join(native, 'lib'), 0o755);
      }
    },
  );
});
