import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));

type LocalEvent = { event: string } & Record<string, unknown>;

/** A running `packhouse local`. */
export interface LocalProcess {
  /** The first event of this name, at once or as soon as it comes; rejects if the process ends without it. */
  event(name: string): Promise<LocalEvent>;
  /** Ends it and all that it started. */
  end(): Promise<void>;
}

/** Starts the built `packhouse local --json`. */
export function startLocal(args: readonly string[], env: Record<string, string>): LocalProcess {
  const child = spawn(process.execPath, [MAIN, 'local', '--json', ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  const events: LocalEvent[] = [];
  const heard = new EventEmitter();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return;
    events.push(JSON.parse(line) as LocalEvent);
    heard.emit('event');
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return {
    async event(name) {
      for (;;) {
        const found = events.find(({ event }) => event === name);
        if (found !== undefined) return found;
        if (child.exitCode !== null || child.signalCode !== null) {
          throw new Error(`packhouse local ended without the event "${name}": ${stderr}`);
        }
        await Promise.race([once(heard, 'event'), exit]);
      }
    },
    async end() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}
