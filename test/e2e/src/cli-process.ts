import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** One line of `packhouse … --json`. */
export type CliEvent = { event: string } & Record<string, unknown>;

/** A running `packhouse`. */
export interface CliProcess {
  child: ChildProcess;
  events: CliEvent[];
  stdout(): string;
  stderr(): string;
  /** The first event that fits, at once or as soon as it comes; rejects when the process ends without. */
  event(name: string, fits?: (event: CliEvent) => boolean): Promise<CliEvent>;
  /** The exit code, or the signal's name. */
  exit: Promise<number | NodeJS.Signals>;
}

const MAIN = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));

/** Starts the built command line program. */
export function startCli(
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): CliProcess {
  const { DATABASE_URL: _, REDIS_URL: __, NETWORKS_FILE: ___, OBJECT_STORE: ____, ...env } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...env, ...options.env },
    cwd: options.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const events: CliEvent[] = [];
  let stdout = '';
  let stderr = '';
  let rest = '';
  const waiting = new Set<() => void>();
  const wakeAll = (): void => {
    for (const wake of waiting) wake();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('{')) events.push(JSON.parse(line) as CliEvent);
    }
    wakeAll();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  let ended = false;
  const exit = new Promise<number | NodeJS.Signals>((resolve) => {
    child.on('close', (code, signal) => {
      ended = true;
      resolve(code ?? (signal as NodeJS.Signals));
      wakeAll();
    });
  });
  return {
    child,
    events,
    stdout: () => stdout,
    stderr: () => stderr,
    exit,
    event: (name, fits = () => true) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.find((event) => event.event === name && fits(event));
          if (found === undefined && !ended) return;
          waiting.delete(look);
          if (found === undefined)
            reject(
              new Error(
                `no "${name}" event before the end; stderr: ${stderr}; stdout: ${stdout.slice(-2_000)}`,
              ),
            );
          else resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}
