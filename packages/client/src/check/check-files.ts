import { availableParallelism } from 'node:os';
import { createThreadPool } from '@packhouse/runtime';
import type { CheckTask, Verdict } from './check-file.js';

/** The built program of a thread: tests from sources need it, too, because threads read no TypeScript. */
const PROGRAM = new URL('../../dist/check/check-thread.js', import.meta.url);

/** Files of a thread that may wait for their turn behind a large one. */
const AHEAD = 8;
/** More than a thread is sent ahead: a file whose thread ends is the only one that it had. */
const ONE_JOB = 2 ** 32;
const IDLE_MS = 30_000;

interface CheckOptions {
  /** Default: one for each core. */
  threads?: number | undefined;
  signal: AbortSignal;
  /** What a thread runs. */
  program?: URL;
}

/**
 * Checks files in threads, and yields them with their verdicts in the order of `tasks`, of which it takes only a few
 * ahead. Files are read by their threads: only tasks and verdicts are copied. A thread that ends (out of memory, for
 * example) makes a fault that names the file it was at, and another one takes its place. Throws the signal's reason.
 */
export async function* checkFiles<T extends CheckTask>(
  tasks: Iterable<T>,
  { threads = availableParallelism(), signal, program = PROGRAM }: CheckOptions,
): AsyncGenerator<{ task: T; verdict: Verdict }> {
  const pool = createThreadPool<CheckTask, Verdict>({
    threads,
    idleMs: IDLE_MS,
    program,
    maxSilent: Number.POSITIVE_INFINITY,
  });
  const check = (task: T): Promise<Verdict> =>
    pool
      .run(ONE_JOB, () => ({ order: task, moved: [] }))
      .catch(({ message }: Error) => ({
        fault: `${task.shown} could not be checked: ${message.replace('A thread', 'its thread')}.`,
      }));
  const stop = (): void => void pool.close();
  signal.addEventListener('abort', stop);
  const window: { task: T; verdict: Promise<Verdict> }[] = [];
  const first = async (): Promise<{ task: T; verdict: Verdict }> => {
    const { task, verdict } = window.shift() as (typeof window)[number];
    const known = await verdict;
    // Threads that are ended by the signal say nothing of their files.
    signal.throwIfAborted();
    return { task, verdict: known };
  };
  try {
    for (const task of tasks) {
      signal.throwIfAborted();
      window.push({ task, verdict: check(task) });
      if (window.length === threads * AHEAD) yield await first();
    }
    while (window.length > 0) yield await first();
  } finally {
    signal.removeEventListener('abort', stop);
    await pool.close();
  }
}
