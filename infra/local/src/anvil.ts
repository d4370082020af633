import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, PackhouseError } from '@packhouse/runtime';
import { fetch } from 'undici';
import { anvilBinary } from './anvil-binary.js';
import { type AnvilPidFile, clearAnvilLeftover } from './anvil-leftover.js';
import { endWithOwner } from './end-with-owner.js';
import { freePort } from './free-port.js';

const READY_POLL_MS = 15;
const READY_WITHIN_MS = 20_000;
/** How long Anvil may take to end by itself before it is killed. */
const STOP_WITHIN_MS = 3_000;
/** Of what it says on stderr only the end is kept, for the error message. */
const STDERR_KEEP = 4_000;

export interface StartAnvilOptions {
  /** TCP port on 127.0.0.1; default: a free one. */
  port?: number;
  /** More arguments for Anvil, behind ours. */
  args?: readonly string[];
  /** A state file that is read at the start, if it exists, and written at the end. Default: none. */
  stateFile?: string;
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
  /** Whether the process is still there. */
  readonly running: boolean;
  /** Ends it and waits until it is gone; safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts a real Anvil node and resolves as soon as it answers `eth_chainId`.
 *
 * Throws CHILD_FAILED, with what Anvil wrote to stderr, if it ends before or stays silent for 20 s, and
 * DATA_DIR_BUSY if another living process owns the pid file's node.
 */
export async function startAnvil(options: StartAnvilOptions = {}): Promise<Anvil> {
  const binary = await anvilBinary();
  if (options.pidFile !== undefined) await clearAnvilLeftover(options.pidFile, options.logger);
  const port = options.port ?? (await freePort());
  if (options.port !== undefined) await refuseTakenPort(options.port);
  const args = ['--host', '127.0.0.1', '--port', String(port), '--quiet'];
  if (options.stateFile !== undefined) args.push('--state', options.stateFile);
  // A process group of its own: Ctrl-C in a terminal reaches its owner only, which ends the node last.
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
    if (options.pidFile !== undefined) await clearAnvilLeftover(options.pidFile);
  };
  try {
    const url = `http://127.0.0.1:${port}`;
    if (options.pidFile !== undefined && child.pid !== undefined) {
      const content: AnvilPidFile = { pid: child.pid, owner: process.pid, port };
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

/** Asked before the start: afterwards the stranger on the port would answer in Anvil's place. */
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
  for (const deadline = Date.now() + READY_WITHIN_MS; Date.now() < deadline; await delay(READY_POLL_MS)) {
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

/** What Anvil said, as one line, without its help. */
function lastWords(stderr: string): string | undefined {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim().replace(/^error:\s*/i, ''))
    .filter((line) => line !== '' && !/^(Usage:|For more information|note: run with)/.test(line));
  const said = lines.slice(0, 3).join(' ').slice(0, 400);
  return said === '' ? undefined : said.replace(/[.\s]*$/, '.');
}
