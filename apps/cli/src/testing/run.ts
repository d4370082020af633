import { setMaxListeners } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { describeError, PackhouseError } from '@packhouse/runtime';
import { runCli } from '../cli.js';
import type { CliIo } from '../terminal/io.js';

/** The output and exit code of a command. */
export interface Outcome {
  code: number;
  out: string;
  err: string;
}

interface World {
  env?: Record<string, string>;
  cwd?: string;
  signal?: AbortSignal;
  /** What stdin has; default: there is none. */
  input?: string;
}

/** An in-memory process for a command, with its output so far. */
export function memoryIo(world: World = {}): { io: CliIo; said: { out: string; err: string } } {
  const said = { out: '', err: '' };
  const sink = (name: 'out' | 'err'): Writable =>
    new Writable({
      write: (chunk: Buffer, _, done) => {
        said[name] += chunk.toString();
        done();
      },
    });
  const signal = world.signal ?? new AbortController().signal;
  // As main.ts has it.
  setMaxListeners(0, signal);
  const io: CliIo = {
    env: world.env ?? {},
    stdout: sink('out'),
    stderr: sink('err'),
    cwd: world.cwd ?? '/nowhere',
    pid: 1,
    signal,
    ...(world.input === undefined ? {} : { stdin: Readable.from([world.input]) }),
    exitCode: 0,
  };
  return { io, said };
}

/** Runs `packhouse` in this process; errors end it as main.ts does. */
export async function run(args: readonly string[], world: World = {}): Promise<Outcome> {
  const { io, said } = memoryIo(world);
  try {
    await runCli(io, args);
  } catch (error) {
    io.exitCode = error instanceof PackhouseError ? error.exitCode : 70;
    io.stderr.write(`packhouse: ${describeError(error)}\n`);
  }
  return { code: io.exitCode, ...said };
}

/** The lines of a --json answer. */
export function jsonLines({ out }: Outcome): Record<string, unknown>[] {
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
