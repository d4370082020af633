import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Scope } from '@packhouse/local';

/** Time limit of a process to end before it is killed, in milliseconds. */
const STOP_MS = 40_000;

/** The root of this project. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Starts a process that ends with the scope at the latest. Its stdout is readable; default stderr: inherited. */
export function startChild(
  scope: Scope,
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
  child.on('error', () => undefined);
  scope.defer(() => stopChild(child));
  return child;
}

/** Starts a program with this Node; `file` is absolute, or a built one as seen from the root of the project. */
export function startNode(
  scope: Scope,
  file: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  return startChild(scope, process.execPath, [path.resolve(ROOT, file), ...args], options);
}

/** Asks a process to end, waits, and kills it if it does not. */
async function stopChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(late);
}

/** The first line that a process prints. Throws if it ends before. */
export async function firstLine(child: ChildProcess, name: string): Promise<string> {
  if (child.stdout === null) throw new Error(`${name} was started without a stdout to read`);
  const lines = createInterface({ input: child.stdout });
  const line = once(lines, 'line').then(([text]) => text as string);
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`${name} ended with ${code} before it said anything`);
  });
  ended.catch(() => undefined);
  return Promise.race([line, ended]);
}

/** The whole output of a process. Throws if its exit code is not 0. */
export async function getOutput(child: ChildProcess, name: string): Promise<string> {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const failed = once(child, 'error').then(([error]) => {
    throw new Error(`${name} could not be started: ${(error as Error).message}`);
  });
  failed.catch(() => undefined);
  const [code, signal] = (await Promise.race([once(child, 'close'), failed])) as [number | null, string];
  if (code !== 0) throw new Error(`${name} ended with ${signal ?? `code ${code}`}: ${text.slice(-400)}`);
  return text;
}
