import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { plainEnvironment, type Scope } from '@packhouse/local';
import type { ProcessMessage } from '@packhouse/runtime';

/** A process that was started, with what it said. */
export interface Child {
  child: ChildProcess;
  pid: number;
  stdout(): string;
  stderr(): string;
  /** The exit code, or the signal's name. */
  exit: Promise<number | NodeJS.Signals>;
  /** Asks it to end, waits, and kills it if it does not. */
  stop(): Promise<void>;
}

/** Time limit of a process to end before it is killed, in milliseconds. */
const STOP_MS = 30_000;

/**
 * Starts a built program of the project, given from its root; it ends with the scope at the latest. Its stdout is kept,
 * unless the caller reads it.
 */
export function startNode(
  scope: Scope,
  file: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  { readStdout = true }: { readStdout?: boolean } = {},
): Child {
  const main = fileURLToPath(new URL(`../../../../${file}`, import.meta.url));
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...plainEnvironment(process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  if (child.pid === undefined) throw new Error(`${file} could not be started`);
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    if (name === 'stdout' && !readStdout) continue;
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  // The channel may break while something is told.
  child.on('error', () => undefined);
  const exit = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exit;
    clearTimeout(late);
  };
  scope.defer(stop);
  return { child, pid: child.pid, stdout: () => said.stdout, stderr: () => said.stderr, exit, stop };
}

/** The first line that a process prints. Throws if it ends before. */
export async function firstLine(started: Child, name: string): Promise<string> {
  const lines = createInterface({ input: started.child.stdout as NodeJS.ReadableStream });
  const line = once(lines, 'line').then(([text]) => text as string);
  return Promise.race([line, endedEarly(started, name)]);
}

/** The port of a service, as soon as it says so. Throws if it ends before. */
export async function portOf(started: Child, name: string, what: 'listening' | 'metrics'): Promise<number> {
  const ended = endedEarly(started, name);
  for (;;) {
    const [message] = (await Promise.race([once(started.child, 'message'), ended])) as [ProcessMessage];
    if (message.type === what && 'port' in message) return message.port;
    if (message.type === 'fatal') throw new Error(message.message);
  }
}

function endedEarly(started: Child, name: string): Promise<never> {
  const ended = started.exit.then((code) => {
    throw new Error(`${name} ended with ${code}: ${started.stderr().slice(-600)}`);
  });
  ended.catch(() => undefined);
  return ended;
}
