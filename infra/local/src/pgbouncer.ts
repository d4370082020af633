import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { postgresAccount } from './postgres/home.js';
import { freePort } from './process/free-port.js';

const READY_POLL_MS = 20;

/** A running PgBouncer. */
export interface LocalPgBouncer {
  /** The address that it was started for, on its own port. */
  url: string;
  /** Kills it and waits until it is gone. */
  stop(): Promise<void>;
}

/** Whether there is a PgBouncer on PATH, where Debian has it among the programs of root. */
export function pgBouncerInstalled(): boolean {
  try {
    execFileSync('pgbouncer', ['--version'], { stdio: 'ignore', env: ENV });
    return true;
  } catch {
    return false;
  }
}

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin' };

/** Starts a PgBouncer with its default settings before the server of `url`, whose password it knows. */
export async function startPgBouncer(options: {
  url: string;
  mode: 'session' | 'transaction' | 'statement';
  /** Connections to the server for each user and database. */
  poolSize: number;
  /** More lines of its configuration. */
  settings?: readonly string[];
}): Promise<LocalPgBouncer> {
  const to = new URL(options.url);
  const port = await freePort();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'packhouse-pgbouncer-'));
  const stop = async (child?: ChildProcess): Promise<void> => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const config = path.join(folder, 'pgbouncer.ini');
    const server = `host=${to.hostname} port=${to.port} user=${to.username} password=${decodeURIComponent(to.password)}`;
    const lines = [
      ['[databases]', `* = ${server}`, '[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`],
      ['unix_socket_dir =', 'auth_type = any', `pool_mode = ${options.mode}`],
      [`default_pool_size = ${options.poolSize}`, ...(options.settings ?? [])],
    ].flat();
    await writeFile(config, `${lines.join('\n')}\n`, { mode: 0o600 });
    // It refuses to run as root, too.
    const account = await postgresAccount();
    if (account !== null) {
      await chmod(folder, 0o755);
      await chown(config, account.uid, account.gid);
    }
    const child = spawn('pgbouncer', ['-q', config], {
      stdio: 'ignore',
      env: ENV,
      uid: account?.uid,
      gid: account?.gid,
    });
    await once(child, 'spawn');
    while (!(await listens(port))) {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
      await delay(READY_POLL_MS);
    }
    to.port = String(port);
    return { url: to.href, stop: () => stop(child) };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
