import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, PackhouseError } from '@packhouse/runtime';
import { isAlive } from './is-alive.js';

const POLL_MS = 20;
const GIVE_UP_MS = 5_000;

/** What a pid file of Anvil says. */
export interface AnvilPidFile {
  pid: number;
  /** The process that started it. */
  owner: number;
  port: number;
}

/**
 * Ends the Anvil that an earlier, killed run left behind according to `pidFile`, and removes the file.
 *
 * The number is trusted only if that process is an Anvil with the same port on its command line: numbers are
 * used again. Where `/proc` is missing nothing is ended. Throws DATA_DIR_BUSY if whoever started it still lives.
 */
export async function clearAnvilLeftover(pidFile: string, logger?: Logger): Promise<void> {
  const left = await readPidFile(pidFile);
  if (left !== undefined && (await isThatAnvil(left))) {
    if (left.owner !== process.pid && (await parentOf(left.pid)) === left.owner) {
      throw new PackhouseError({
        code: 'DATA_DIR_BUSY',
        message: `Process ${left.owner} already runs an Anvil that belongs to ${pidFile}.`,
        hint: 'Stop that process first, or use another data folder.',
        data: { pid: left.owner },
      });
    }
    logger?.warn({ pid: left.pid }, 'ending the Anvil that an earlier run left behind');
    process.kill(left.pid, 'SIGKILL');
    for (const end = Date.now() + GIVE_UP_MS; isAlive(left.pid) && Date.now() < end; ) await delay(POLL_MS);
  }
  await rm(pidFile, { force: true });
}

async function readPidFile(pidFile: string): Promise<AnvilPidFile | undefined> {
  try {
    const left = JSON.parse(await readFile(pidFile, 'utf8')) as AnvilPidFile;
    return Number.isInteger(left.pid) && left.pid > 1 ? left : undefined;
  } catch {
    return undefined;
  }
}

async function isThatAnvil(left: AnvilPidFile): Promise<boolean> {
  const command = await readFile(`/proc/${left.pid}/cmdline`, 'utf8').catch(() => '');
  const [program, ...args] = command.split('\0');
  return path.basename(program ?? '') === 'anvil' && args[args.indexOf('--port') + 1] === String(left.port);
}

async function parentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]);
}
