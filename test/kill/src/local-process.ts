import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '@packhouse/local';

/** One line of `packhouse local --json`. */
export type LocalEvent = { event: string } & Record<string, unknown>;

/** A running `packhouse local`. */
export interface LocalProcess {
  child: ChildProcess;
  pid: number;
  /** Everything it said that may not hold a key: all of stderr, and stdout without its `ready` events. */
  said(): string;
  /** The exit code, or the signal's name. */
  exit: Promise<number | string>;
  ended(): boolean;
}

const MAIN = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));

/** Starts the built `packhouse local`, which says what it does as JSON lines. */
export function startLocal(
  args: readonly string[],
  env: Record<string, string>,
  onEvent: (event: LocalEvent) => void,
): LocalProcess {
  const child = spawn(process.execPath, [MAIN, 'local', '--json', ...args], {
    env: { ...plainEnvironment(process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid === undefined) throw new Error('packhouse local could not be started');
  let said = '';
  let ended = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    let event: LocalEvent;
    try {
      event = JSON.parse(line) as LocalEvent;
    } catch {
      // A kill may cut a line.
      said += `${line}\n`;
      return;
    }
    if (event.event !== 'ready' && event.event !== 'progress') said += `${line}\n`;
    onEvent(event);
  });
  const exit = new Promise<number | string>((resolve) => {
    child.on('exit', (code, signal) => {
      ended = true;
      resolve(code ?? signal ?? 'nothing');
    });
  });
  return { child, pid: child.pid, said: () => said, exit, ended: () => ended };
}
