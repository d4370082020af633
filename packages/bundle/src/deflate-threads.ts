import { Worker } from 'node:worker_threads';
import type { Kind } from '@packhouse/chain';
import type { Piece } from './fragment.js';
import { SpareBuffers } from './spare-buffers.js';

/** What a thread is sent. */
export interface Order {
  text: Uint8Array<ArrayBuffer>;
  /** Of what kind the text has whole records, if its items are wanted. */
  kind?: Kind | undefined;
  /** Whether its piece is wanted. */
  deflate: boolean;
}

/** What a thread answers. */
export interface Answer {
  piece?: { body: Uint8Array<ArrayBuffer>; crc32: number };
  /** Absent: not wanted, or of another form. */
  items?: Uint8Array<ArrayBuffer>;
  /** What was sent, to be used again. */
  text?: Uint8Array<ArrayBuffer>;
}

/** Threads with a kernel each; they keep no process alive that waits for nothing of them. */
interface DeflateThreads {
  /** Throws if the text's thread ended before it answered, and at once if no thread ever answers. */
  deflate(text: Buffer, kind?: Kind): Promise<Piece>;
  /** The items of a text (see Piece); undefined if it is of another form. Throws as `deflate`. */
  items(text: Buffer, kind: Kind): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

export interface ThreadOptions {
  /** Threads at most; each is started when all others have work. */
  threads: number;
  /** How long a thread may have nothing to do before it is ended, in milliseconds. */
  idleMs: number;
  /** What a thread runs. */
  program: URL;
}

interface Job extends Omit<Order, 'text'> {
  text: Buffer;
  done(answer: Answer): void;
  failed(why: Error): void;
}

interface Thread {
  worker: Worker;
  /** Sent and not answered yet, in their order. */
  jobs: Job[];
  /** Of the texts of its jobs. */
  bytes: number;
  idle?: NodeJS.Timeout;
}

/** Texts that a thread may have, so that it need not wait for the main thread between them; bounds the copies. */
const AHEAD_BYTES = 2_097_152;
/** So many threads in a row that end without an answer are the last ones. */
const MOST_SILENT = 3;

/** Creates the threads; none is started yet. A thread that ended is replaced when there is work for another one. */
export function createDeflateThreads({ threads, idleMs, program }: ThreadOptions): DeflateThreads {
  const all = new Set<Thread>();
  const spare = new SpareBuffers();
  const waiting: Job[] = [];
  let silent = 0;
  let closed = false;

  const start = (): Thread => {
    // Without the options of this process: they are for its main thread (conditions of tests, SDKs of traces).
    const worker = new Worker(program, { execArgv: [], env: {} });
    const thread: Thread = { worker, jobs: [], bytes: 0 };
    let answered = false;
    let why = '';
    worker.on('message', (answer: Answer) => {
      answered = true;
      if (answer.text !== undefined) spare.giveBack(answer.text.buffer);
      silent = 0;
      const { text, done } = thread.jobs.shift() as Job;
      thread.bytes -= text.length;
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

  const rest = (thread: Thread): void => {
    thread.worker.unref();
    thread.idle = setTimeout(() => {
      all.delete(thread);
      void thread.worker.terminate();
    }, idleMs).unref();
  };

  /** The thread with the fewest bytes to do, or a new one if all have some; undefined if none may have more. */
  const choose = (): Thread | undefined => {
    const [first] = [...all].sort((a, b) => a.bytes - b.bytes);
    if (first === undefined || (first.jobs.length > 0 && all.size < threads)) return start();
    return first.bytes < AHEAD_BYTES ? first : undefined;
  };

  const dispatch = (): void => {
    while (waiting.length > 0) {
      if (closed || silent >= MOST_SILENT) {
        for (const { failed } of waiting.splice(0)) failed(new Error('There are no threads'));
        return;
      }
      const thread = choose();
      if (thread === undefined) return;
      const job = waiting.shift() as Job;
      clearTimeout(thread.idle);
      thread.worker.ref();
      thread.jobs.push(job);
      thread.bytes += job.text.length;
      // The text stays here, for it may have to be deflated again.
      const order: Order = { text: spare.copy(job.text), kind: job.kind, deflate: job.deflate };
      thread.worker.postMessage(order, [order.text.buffer]);
    }
  };

  const run = (job: Omit<Job, 'done' | 'failed'>): Promise<Answer> =>
    new Promise((done, failed) => {
      waiting.push({ ...job, done, failed });
      dispatch();
    });

  return {
    async deflate(text, kind) {
      const { piece, items } = await run({ text, kind, deflate: true });
      if (piece === undefined) throw new Error('A thread answered without a piece');
      return {
        body: Buffer.from(piece.body.buffer),
        rawLength: text.length,
        crc32: piece.crc32,
        ...(items === undefined ? {} : { items: Buffer.from(items.buffer) }),
      };
    },
    async items(text, kind) {
      const { items } = await run({ text, kind, deflate: false });
      return items === undefined ? undefined : Buffer.from(items.buffer);
    },
    async close() {
      closed = true;
      await Promise.all([...all].map(({ worker }) => worker.terminate()));
      dispatch();
    },
  };
}
