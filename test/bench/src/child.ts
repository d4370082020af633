import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Scope } from '@packhouse/local';

/** Time limit of a process to end before it is killed, in milliseconds. */
const STOP_MS = 40_000;

/** Starts a program of this machine that ends with the scope at the latest; default stderr: inherited. */
export function startChild(
  scope: Scope,
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
  child.on('error', () => undefined);
  scope.defer(async () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await gone;
    clearTimeout(late);
  });
  return child;
}

/** Runs a program of this machine, and returns its output. Throws if its exit code is not 0. */
export async function runChild(
  scope: Scope,
  command: string,
  args: readonly string[],
  options: { cwd?: string } = {},
): Promise<string> {
  const child = startChild(scope, command, args, options);
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const failed = once(child, 'error').then(([error]) => {
    throw new Error(`${command} could not be started: ${(error as Error).message}`);
  });
  failed.catch(() => undefined);
  const [code, signal] = (await Promise.race([once(child, 'close'), failed])) as [number | null, string];
  if (code !== 0) throw new Error(`${command} ended with ${signal ?? `code ${code}`}: ${text.slice(-400)}`);
  return text;
}
