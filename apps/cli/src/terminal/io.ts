import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** The process as a command sees it; only main.ts makes it from the real one. */
export interface CliIo {
  env: Readonly<Record<string, string | undefined>>;
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  /** Absent: nobody can be asked. */
  stdin?: Readable & { isTTY?: boolean };
  cwd: string;
  pid: number;
  /** Aborted by Ctrl-C or SIGTERM, and with an OutputEnded once stdout takes nothing more. */
  signal: AbortSignal;
  /** Aborted by the second one: started processes are ended at once. */
  hurry?: AbortSignal;
  /** Exit code of the process; commands set it, main.ts reads it. */
  exitCode: number;
  /** What this process becomes after the command: the address of a `main`, and settings that its environment may replace. */
  service?: { main: string; env: Readonly<Record<string, string>> };
}

/** Why a run ends early: the reader of stdout is gone (`| head`), or its file cannot be written. */
export class OutputEnded extends Error {}

/** Writes one line: text, or an object as JSON. Does not wait for a slow reader: see `print`. */
export function write(io: CliIo, line: string | object): void {
  const text = typeof line === 'string' ? line : JSON.stringify(line);
  io.stdout.write(`${io.stdout.isTTY ? harmless(text) : text}\n`);
}

/** Text for a terminal: characters that would steer it, or turn the direction of a line, are shown as U+FFFD. */
export function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

/**
 * Writes one line and waits until stdout takes more, so that a slow reader costs no memory. Throws OutputEnded if
 * stdout takes nothing any more, and the reason of the signal if it is aborted while the reader keeps it waiting.
 */
export async function print(io: CliIo, line: string | object): Promise<void> {
  write(io, line);
  await drained(io);
}

/** Waits until stdout takes more. Throws as `print`. */
export async function drained({ stdout, signal }: CliIo): Promise<void> {
  if (signal.reason instanceof OutputEnded) throw signal.reason;
  if (!stdout.writableNeedDrain) return;
  await once(stdout, 'drain', { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new OutputEnded('stdout is closed', { cause: error });
  });
}
