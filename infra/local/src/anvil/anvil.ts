import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, type Logger, PackhouseError } from '@packhouse/runtime';
import { fetch } from 'undici';
import { endWithOwner } from '../process/end-with-owner.js';
import { freePort } from '../process/free-port.js';
import { anvilBinary } from './binary.js';

const POLL_MS = 15;
const READY_WITHIN_MS = 20_000;
/** How long Anvil may take to end after SIGTERM, and after SIGKILL. */
const STOP_WITHIN_MS = 3_000;
const KILL_WITHIN_MS = 5_000;
/** Characters that are kept of the end of stderr, for the error message. */
const STDERR_KEEP = 4_000;

interface StartAnvilOptions {
  /** TCP port on 127.0.0.1; default: a free one. */
  port?: number;
  /** More arguments for Anvil, after ours. */
  args?: readonly string[];
  /** Where the pid is kept, so that the next start can end an Anvil whose owner was killed. Default: nowhere. */
  pidFile?: string;
  logger?: Logger;
}

/** A running Anvil node. */
export interface Anvil {
  /** Its JSON-RPC address. */
  url: string;
  port: number;
  pid: number;
  /** Whether the process still runs. */
  readonly running: boolean;
  /** Ends it and waits until it is gone; safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts a real Anvil node and resolves as soon as it answers `eth_chainId`.
 *
 * Throws CHILD_FAILED, with Anvil's output on stderr, if it ends before that or stays silent for 20 s, and
 * DATA_DIR_BUSY if the node of the pid file belongs to another living process.
 */
export async function startAnvil(options: StartAnvilOptions = {}): Promise<Anvil> {
  const binary = await anvilBinary();
  if (options.pidFile !== undefined) await clearLeftover(options.pidFile, options.logger);
  const port = options.port ?? (await freePort());
  if (options.port !== undefined) await refuseTakenPort(options.port);
  const args = ['--host', '127.0.0.1', '--port', String(port), '--quiet'];
  // A separate process group: Ctrl-C in a terminal reaches only its owner, which ends the node last.
  const child = spawn(binary, [...args, ...(options.args ?? [])], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEEP);
  });
  const failed = new Promise<Error>((resolve) => child.once('error', resolve));
  const killAtExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  child.once('exit', () => process.off('exit', killAtExit));
  if (child.pid !== undefined) child.once('exit', endWithOwner({ pid: child.pid }));

  const stop = async (): Promise<void> => {
    await end(child);
    process.off('exit', killAtExit);
    if (options.pidFile !== undefined) await clearLeftover(options.pidFile);
  };
  try {
    const url = `http://127.0.0.1:${port}`;
    if (options.pidFile !== undefined && child.pid !== undefined) {
      const content: PidFile = { pid: child.pid, owner: process.pid, port };
      await mkdir(path.dirname(options.pidFile), { recursive: true });
      await writeFile(options.pidFile, `${JSON.stringify(content)}\n`);
    }
    const trouble = await Promise.race([failed, untilReady(url, child)]);
    if (trouble !== undefined) throw trouble;
    options.logger?.debug({ pid: child.pid, url }, 'Anvil answers');
    return {
      url,
      port,
      pid: child.pid!,
      get running() {
        return isRunning(child);
      },
      stop,
    };
  } catch (cause) {
    await stop();
    throw new PackhouseError({
      code: 'CHILD_FAILED',
      message: `Anvil did not start on port ${port}: ${lastWords(stderr) ?? (cause as Error).message}`,
      hint: 'Free that port or choose another one; if it still fails, run the binary by hand to see why.',
      data: { port, binary },
      cause,
    });
  }
}

/** Before the start: after it, another program on the port would answer in Anvil's place. */
async function refuseTakenPort(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new PackhouseError({
      code: 'CHILD_FAILED',
      message: `Anvil did not start on port ${port}: the port is taken or may not be used.`,
      hint: 'Free that port or choose another one.',
      data: { port },
      cause,
    });
  }
  server.close();
  await once(server, 'close');
}

/** Undefined once the node answers; an error if it ended or stayed silent. */
async function untilReady(url: string, child: ChildProcess): Promise<Error | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const headers = { 'content-type': 'application/json' };
  for (
    const deadline = performance.now() + READY_WITHIN_MS;
    performance.now() < deadline;
    await delay(POLL_MS)
  ) {
    if (!isRunning(child)) return new Error(`it ended with ${child.exitCode ?? child.signalCode}.`);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(READY_WITHIN_MS),
      });
      const answer = (await response.json()) as { result?: unknown };
      if (typeof answer.result === 'string' && isRunning(child)) return undefined;
    } catch {
      // not yet
    }
  }
  return new Error(`no answer to eth_chainId within ${READY_WITHIN_MS / 1000} s.`);
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function end(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(timer);
}

/** Anvil's output as one line, without its help. */
function lastWords(stderr: string): string | undefined {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim().replace(/^error:\s*/i, ''))
    .filter((line) => line !== '' && !/^(Usage:|For more information|note: run with)/.test(line));
  const said = lines.slice(0, 3).join(' ').slice(0, 400);
  return said === '' ? undefined : said.replace(/[.\s]*$/, '.');
}

interface PidFile {
  pid: number;
  /** The process that started it. */
  owner: number;
  port: number;
}

/**
 * Ends the Anvil that a killed run left behind according to `pidFile`, and removes the file. Numbers are used again, so
 * it must be an Anvil with the same port on its command line; without `/proc` nothing is ended. Throws DATA_DIR_BUSY if
 * the process that started it still lives.
 */
async function clearLeftover(pidFile: string, logger?: Logger): Promise<void> {
  const left = await readPidFile(pidFile);
  if (left !== undefined && (await isThatAnvil(left))) {
    if (left.owner !== process.pid && (await getParent(left.pid)) === left.owner) {
      throw new PackhouseError({
        code: 'DATA_DIR_BUSY',
        message: `Process ${left.owner} already runs an Anvil that belongs to ${pidFile}.`,
        hint: 'Stop that process first, or use another data folder.',
        data: { pid: left.owner },
      });
    }
    logger?.warn({ pid: left.pid }, 'ending the Anvil that an earlier run left behind');
    process.kill(left.pid, 'SIGKILL');
    for (const end = performance.now() + KILL_WITHIN_MS; isAlive(left.pid) && performance.now() < end; )
      await delay(POLL_MS);
  }
  await rm(pidFile, { force: true });
}

async function readPidFile(pidFile: string): Promise<PidFile | undefined> {
  try {
    const left = JSON.parse(await readFile(pidFile, 'utf8')) as PidFile;
    return Number.isInteger(left.pid) && left.pid > 1 ? left : undefined;
  } catch {
    return undefined;
  }
}

async function isThatAnvil(left: PidFile): Promise<boolean> {
  const command = await readFile(`/proc/${left.pid}/cmdline`, 'utf8').catch(() => '');
  const [program, ...args] = command.split('\0');
  return path.basename(program ?? '') === 'anvil' && args[args.indexOf('--port') + 1] === String(left.port);
}

async function getParent(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]);
}
