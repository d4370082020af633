import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { redact } from '@packhouse/runtime';

interface CommandParts {
  /** The program of the command line. */
  cli: string;
  args: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted: the command is told to end. */
  signal: AbortSignal;
  /** Aborted: it is ended at once. */
  cut: AbortSignal;
}

/** How a command ended. */
interface CommandEnd {
  /** Null: a signal ended it. */
  exitCode: number | null;
  /** The last line that it wrote, redacted, of 500 characters at most. */
  message: string | null;
}

/** What is kept of an output, in characters, and of a line. */
const TAIL = 4_096;
const LINE = 500;

/** Runs `packhouse` with these arguments in a process of its own, and keeps the end of its output only. */
export async function runCommand({ cli, args, env, signal, cut }: CommandParts): Promise<CommandEnd> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, [cli, ...args], {
    // Its log would be in the way of its last line.
    env: { ...env, LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out = getTail(child.stdout);
  const err = getTail(child.stderr);
  const tell = (): void => void child.kill('SIGTERM');
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', tell, { once: true });
  cut.addEventListener('abort', kill, { once: true });
  try {
    const [exitCode] = (await once(child, 'close')) as [number | null];
    const message =
      exitCode === 0 ? (lastLine(out()) ?? lastLine(err())) : (lastLine(err()) ?? lastLine(out()));
    return { exitCode, message };
  } finally {
    signal.removeEventListener('abort', tell);
    cut.removeEventListener('abort', kill);
  }
}

function getTail(stream: Readable): () => string {
  let tail = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-TAIL);
  });
  return () => tail;
}

function lastLine(text: string): string | null {
  const line = text.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? null : redact(line).slice(0, LINE);
}
