import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { CheckTask, Verdict } from './check-file.js';

/** The built program of a thread: tests from sources need it, too, because threads read no TypeScript. */
const PROGRAM = new URL('../../dist/check/check-thread.js', import.meta.url);

/** Files of a thread that may wait for their turn behind a large one. */
const AHEAD = 8;

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
  const pool = createPool(threads, program);
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
      window.push({ task, verdict: pool.check(task) });
      if (window.length === threads * AHEAD) yield await first();
    }
    while (window.length > 0) yield await first();
  } finally {
    signal.removeEventListener('abort', stop);
    await pool.close();
  }
}

interface Pool {
  /** Never fails. */
  check(task: CheckTask): Promise<Verdict>;
  close(): Promise<void>;
}

function createPool(threads: number, program: URL): Pool {
  const all = new Set<Worker>();
  const idle: Worker[] = [];
  const waiting: (() => void)[] = [];
  let closed = false;

  const next = (): void => waiting.shift()?.();
  const run = (worker: Worker, task: CheckTask, done: (verdict: Verdict) => void): void => {
    let why = '';
    const onMessage = (verdict: Verdict): void => {
      settle(verdict);
      idle.push(worker);
      next();
    };
    const onError = (error: Error): void => {
      why = `: ${error.message}`;
    };
    const onExit = (code: number): void => {
      settle({ fault: `${task.shown} could not be checked: its thread ended with ${code}${why}.` });
      next();
    };
    const settle = (verdict: Verdict): void => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      done(verdict);
    };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage(task);
  };
  const start = (): Worker => {
    // Without the options of this process, which may name conditions that only tests have.
    const worker = new Worker(program, { execArgv: [] });
    all.add(worker);
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      all.delete(worker);
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
    });
    return worker;
  };

  return {
    check: (task) =>
      new Promise((done) => {
        const begin = (): void => {
          if (closed) done({ fault: `${task.shown} was not checked.` });
          else run(idle.pop() ?? start(), task, done);
        };
        if (idle.length > 0 || all.size < threads) begin();
        else waiting.push(begin);
      }),
    async close() {
      closed = true;
      await Promise.all([...all].map((worker) => worker.terminate()));
      while (waiting.length > 0) next();
    },
  };
}
