import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, readlink, realpath, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Logger, PackhouseError } from '@packhouse/runtime';
import { isAlive } from './is-alive.js';

const POLL_MS = 50;
/** How long a server may take to write its last checkpoint before it is told to stop without one. */
export const FAST_SHUTDOWN_MS = 10_000;

/**
 * Clears what a run that was killed left behind in a data folder: a server that still runs, processes of one
 * that died, a pid file whose number another program has got since.
 *
 * Throws DATA_DIR_BUSY if the server's parent lives: then somebody is working with it.
 */
export async function clearLeftover(dataFolder: string, logger?: Logger): Promise<void> {
  const pidFile = path.join(dataFolder, 'postmaster.pid');
  const folder = await realpath(dataFolder);
  // Before anything is looked at: a pid file that appears later is another start's.
  const named = await firstLine(pidFile);
  const pid = await serverOf(folder, named);
  if (pid !== null) {
    const parent = await parentOf(pid);
    const owner = Number(await readFile(path.join(dataFolder, 'packhouse-owner'), 'utf8').catch(() => ''));
    if (parent === owner && owner > 1) {
      throw new PackhouseError({
        code: 'DATA_DIR_BUSY',
        message: `Process ${owner} already runs Postgres on ${dataFolder}.`,
        hint: 'Stop that process first, or use another data folder.',
        data: { pid: owner },
      });
    }
    logger?.warn({ pid }, 'stopping the Postgres that an earlier run left behind');
    await endProcess(pid);
  }
  // Processes of a server that died notice it by themselves; a new one may not start beside them.
  let another: number | null = null;
  const settled = await waitUntil(async () => {
    if ((await processesIn(folder)).length === 0) return true;
    another = await serverOf(folder, await firstLine(pidFile));
    return another !== null;
  }, FAST_SHUTDOWN_MS);
  // Somebody who started at the same moment was first.
  if (another !== null) return clearLeftover(dataFolder, logger);
  if (!settled) {
    for (const left of await processesIn(folder)) {
      logger?.warn({ pid: left }, 'ending a process of a Postgres that died');
      signal(left, 'SIGKILL');
    }
    await waitUntil(async () => (await processesIn(folder)).length === 0, FAST_SHUTDOWN_MS);
  }
  if (named !== null) await removePidFile(pidFile, named);
}

/**
 * Removes a pid file if it is still the one whose first line is `named`. Without its pid file two servers would run on
 * one data folder, so that of a server which somebody started meanwhile is put back.
 */
export async function removePidFile(pidFile: string, named: string): Promise<void> {
  const aside = `${pidFile}.${randomBytes(4).toString('hex')}`;
  try {
    await rename(pidFile, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if ((await firstLine(aside)) === named) await rm(aside, { force: true });
  else await rename(aside, pidFile);
}

/** Null where the file is not there. */
async function firstLine(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).split('\n')[0] ?? '';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The server that runs on a data folder: as its pid file says, or, where that was never finished, as is seen. */
async function serverOf(folder: string, named: string | null): Promise<number | null> {
  const pid = Number(named);
  if (Number.isInteger(pid) && pid > 0 && (await isPostgresOf(pid, folder))) return pid;
  const all = await processesIn(folder);
  for (const one of all) {
    // Its processes call themselves `postgres: …`, the server itself has the command line it was given.
    if ((await commandOf(one)).includes('\0-D\0')) return one;
  }
  return null;
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

/** Stops a server that is not a child of this process: fast shutdown, then immediate. */
async function endProcess(pid: number): Promise<void> {
  for (const name of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!signal(pid, name)) return;
    if (await waitUntil(async () => !isAlive(pid), FAST_SHUTDOWN_MS)) return;
  }
}

/** False where the time was over first. */
async function waitUntil(condition: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  for (const end = Date.now() + withinMs; Date.now() < end; await delay(POLL_MS)) {
    if (await condition()) return true;
  }
  return condition();
}

/** Every process of Postgres has its data folder as working folder. */
async function isPostgresOf(pid: number, dataFolder: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === 'linux') {
    return (await readlink(`/proc/${pid}/cwd`).catch(() => null)) === dataFolder;
  }
  return (await ps(pid, 'command')).includes(dataFolder);
}

async function parentOf(pid: number): Promise<number> {
  return Number(await ps(pid, 'ppid'));
}

async function ps(pid: number, column: 'ppid' | 'command'): Promise<string> {
  if (process.platform === 'linux' && column === 'ppid') {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    return /^PPid:\s*(\d+)/m.exec(status)?.[1] ?? '';
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', `${column}=`, '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.trim();
}

/** The processes of Postgres on a data folder; of another program that happens to stand there nothing is touched. */
async function processesIn(dataFolder: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if ((await readlink(`/proc/${name}/cwd`).catch(() => null)) !== dataFolder) continue;
    if (/^postgres(?:\0|: )|\/postgres\0/.test(await commandOf(Number(name)))) found.push(Number(name));
  }
  return found;
}

async function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}
