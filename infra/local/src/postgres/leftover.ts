import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isAlive, type Logger, PackhouseError } from '@packhouse/runtime';
import { firstLine, removePidFile } from './pid-file.js';

const POLL_MS = 50;
/** How long a server may take for its last checkpoint before it must stop without one. */
export const FAST_SHUTDOWN_MS = 10_000;

/**
 * Ends and removes what a killed run left in a data folder: a server that still runs, processes of a dead one, a pid
 * file whose number belongs to another program by now. Throws DATA_DIR_BUSY if the parent of the server lives.
 */
export async function clearLeftover(dataFolder: string, logger?: Logger): Promise<void> {
  const pidFile = path.join(dataFolder, 'postmaster.pid');
  const folder = await realpath(dataFolder);
  // Read first: a pid file that appears later belongs to another start.
  const named = await firstLine(pidFile);
  const pid = await getServer(folder, named);
  if (pid !== null) {
    const parent = await getParent(pid);
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
  // Processes of a dead server end by themselves; a new server must not start beside them.
  let another: number | null = null;
  const settled = await waitUntil(async () => {
    if ((await processesIn(folder)).length === 0) return true;
    another = await getServer(folder, await firstLine(pidFile));
    return another !== null;
  }, FAST_SHUTDOWN_MS);
  // Another start at the same moment was first.
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

/** The server on a data folder: by its pid file, else (the file may be unfinished) by its command line. */
async function getServer(folder: string, named: string | null): Promise<number | null> {
  const pid = Number(named);
  if (Number.isInteger(pid) && pid > 0 && (await isPostgres(pid, folder))) return pid;
  const all = await processesIn(folder);
  for (const one of all) {
    // Its child processes call themselves `postgres: …`; the server keeps its command line.
    if ((await getCommand(one)).includes('\0-D\0')) return one;
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

/** False if the time was over first. */
async function waitUntil(condition: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  for (const end = performance.now() + withinMs; performance.now() < end; await delay(POLL_MS)) {
    if (await condition()) return true;
  }
  return condition();
}

/** Every process of Postgres works in its data folder. */
async function isPostgres(pid: number, dataFolder: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === 'linux') {
    return (await readlink(`/proc/${pid}/cwd`).catch(() => null)) === dataFolder;
  }
  return (await ps(pid, 'command')).includes(dataFolder);
}

async function getParent(pid: number): Promise<number> {
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

/** The processes of Postgres on a data folder; other programs in that folder do not count. */
async function processesIn(dataFolder: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if ((await readlink(`/proc/${name}/cwd`).catch(() => null)) !== dataFolder) continue;
    if (/^postgres(?:\0|: )|\/postgres\0/.test(await getCommand(Number(name)))) found.push(Number(name));
  }
  return found;
}

async function getCommand(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}
