import { Worker } from 'node:worker_threads';

export interface ThreadOptions {
  /** Threads at most; each is started when all others have work. */
  threads: number;
  /** How long a thread may have nothing to do before it is ended, in milliseconds. */
  idleMs: number;
  /** What a thread runs: it answers each order with one message, in their order. */
  program: URL;
  /** So many threads in a row that end without an answer are the last ones. Default 3. */
  maxSilent?: number;
}

/** What a thread is sent, with the buffers that move to it. */
interface Message<Order> {
  order: Order;
  moved: ArrayBuffer[];
}

/** Threads that run the same program; they keep no process alive that waits for nothing of them. */
interface ThreadPool<Order, Answer> {
  /**
   * Has a thread do a job of `bytes`; `write` is called when it is sent. Throws if its thread ended before it answered,
   * and at once if no thread ever answers.
   */
  run(bytes: number, write: () => Message<Order>): Promise<Answer>;
  close(): Promise<void>;
}

interface Job<Order, Answer> {
  bytes: number;
  write(): Message<Order>;
  done(answer: Answer): void;
  failed(why: Error): void;
}

interface Thread<Order, Answer> {
  worker: Worker;
  /** Sent and not answered yet, in their order. */
  jobs: Job<Order, Answer>[];
  /** Of its jobs. */
  bytes: number;
  idle?: NodeJS.Timeout;
}

/** What a thread may have to do, so that it need not wait for the main thread between two jobs; bounds the copies. */
const AHEAD_BYTES = 2_097_152;
const MAX_SILENT = 3;

/** Creates the threads; none is started yet. A thread that ended is replaced when there is work for another one. */
export function createThreadPool<Order, Answer>({
  threads,
  idleMs,
  program,
  maxSilent = MAX_SILENT,
}: ThreadOptions): ThreadPool<Order, Answer> {
  const all = new Set<Thread<Order, Answer>>();
  const waiting: Job<Order, Answer>[] = [];
  let silent = 0;
  let closed = false;

  const start = (): Thread<Order, Answer> => {
    // Without the options of this process: they are for its main thread (conditions of tests, SDKs of traces).
    const worker = new Worker(program, { execArgv: [], env: {} });
    const thread: Thread<Order, Answer> = { worker, jobs: [], bytes: 0 };
    let answered = false;
    let why = '';
    worker.on('message', (answer: Answer) => {
      answered = true;
      silent = 0;
      const { bytes, done } = thread.jobs.shift() as Job<Order, Answer>;
      thread.bytes -= bytes;
      done(answer);
      if (thread.jobs.length === 0) rest(thread);
      dispatch();
    });
    worker.on('error', (error) => {
      why = `: ${error.message}`;
    });
    worker.on('exit', (code) => {
      all.delete(thread);
      clearTimeout(thread.idle);
      if (!answered) silent += 1;
      for (const { failed } of thread.jobs) failed(new Error(`A thread ended with ${code}${why}`));
      dispatch();
    });
    all.add(thread);
    return thread;
  };

  const rest = (thread: Thread<Order, Answer>): void => {
    thread.worker.unref();
    thread.idle = setTimeout(() => {
      all.delete(thread);
      void thread.worker.terminate();
    }, idleMs).unref();
  };

  /** The thread with the fewest bytes to do, or a new one if all have some; undefined if none may have more. */
  const choose = (): Thread<Order, Answer> | undefined => {
    const [first] = [...all].sort((a, b) => a.bytes - b.bytes);
    if (first === undefined || (first.jobs.length > 0 && all.size < threads)) return start();
    return first.bytes < AHEAD_BYTES ? first : undefined;
  };

  const dispatch = (): void => {
    while (waiting.length > 0) {
      if (closed || silent >= maxSilent) {
        for (const { failed } of waiting.splice(0)) failed(new Error('There are no threads'));
        return;
      }
      const thread = choose();
      if (thread === undefined) return;
      const job = waiting.shift() as Job<Order, Answer>;
      try {
        const { order, moved } = job.write();
        thread.worker.postMessage(order, moved);
      } catch (error) {
        // It was not sent: the thread's answers are for the others.
        job.failed(error as Error);
        continue;
      }
      clearTimeout(thread.idle);
      thread.worker.ref();
      thread.jobs.push(job);
      thread.bytes += job.bytes;
    }
  };

  return {
    run: (bytes, write) =>
      new Promise((done, failed) => {
        waiting.push({ bytes, write, done, failed });
        dispatch();
      }),
    async close() {
      closed = true;
      await Promise.all([...all].map(({ worker }) => worker.terminate()));
      dispatch();
    },
  };
}
