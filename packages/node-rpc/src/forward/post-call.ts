import type { CallSignal } from '@packhouse/runtime';
import type { Dispatcher } from 'undici';
import { type ByteSource, createInflater, type Inflater } from './inflate.js';
import {
  answerOf,
  answerOfPieces,
  HEAD_BYTES,
  NO_JSON_RPC,
  type ReadAnswer,
  streamedAnswer,
} from './read-answer.js';
import { findValue, type ValueStart } from './split-envelope.js';

/** An upstream's answer to one HTTP request. */
export interface PostedAnswer {
  status: number;
  retryAfter: string | undefined;
  /** `performance.now()` when the headers had arrived. */
  headAt: number;
  read: ReadAnswer;
  /** How its bytes came. */
  encoding: 'gzip' | 'identity';
  /** Bytes so far, inflated. */
  bytes: number;
}

interface PostOptions {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Bytes of the result at most. */
  maxBytes: number;
  /** The answer is needed whole, however large. */
  whole: boolean;
  /** Called when a streamed answer is over: false if its gzip was a bomb or broken. Not called if it was given up. */
  streamed(sound: boolean): void;
}

/** Answers up to this size are read whole before any byte is sent on, so that a broken one can be asked for elsewhere. */
const STREAM_FROM = 262_144;
/** Bytes of a streamed answer that may wait for their reader; above, the connection is not read. */
const WAITING_BYTES = 131_072;

/**
 * Posts one request and reads the answer: whole, or if larger than STREAM_FROM as a stream at the pace of its reader.
 * Rejects when the connection fails, and with the signal's reason when that is aborted. The error has `sent: true` if
 * the upstream had begun to answer.
 *
 * undici's handlers are used rather than its `request`, whose streams cost more than everything else of a small call.
 */
export function postCall(pool: Dispatcher, options: PostOptions, signal: CallSignal): Promise<PostedAnswer> {
  return new Promise((resolve, reject) => {
    const { path, headers, body } = options;
    const handler = new AnswerHandler(options, signal, resolve, reject);
    if (signal.aborted) handler.stop();
    else {
      signal.addEventListener('abort', handler.stop, { once: true });
      pool.dispatch({ path, method: 'POST', headers, body }, handler);
    }
  });
}

class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly #options: PostOptions;
  readonly #signal: CallSignal;
  readonly #resolve: (answer: PostedAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #pieces: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #inflater: Inflater | undefined;
  #length = 0;
  #found: ValueStart | null = null;
  #status = 0;
  #retryAfter: string | undefined;
  #headAt = 0;
  #settled = false;
  #stream: ChunkQueue | undefined;

  constructor(
    options: PostOptions,
    signal: CallSignal,
    resolve: (answer: PostedAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  readonly stop = (): void => {
    const reason = this.#signal.reason as Error;
    this.#end();
    this.#fail(reason);
    this.#inflater?.destroy();
    // A request that still waits for a connection is aborted when it gets one.
    this.#controller?.abort(reason);
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) controller.abort(this.#signal.reason as Error);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    const retryAfter = headers['retry-after'];
    this.#status = status;
    this.#headAt = performance.now();
    this.#retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
    if (headers['content-encoding'] !== 'gzip') return;
    const inflater = createInflater(controller, this.#options.maxBytes + HEAD_BYTES, {
      data: (chunk) => this.#take(inflater, chunk),
      end: () => this.#over(),
      failed: (error) => {
        this.#end();
        if (this.#stream !== undefined) this.#options.streamed(false);
        this.#fail(error);
      },
    });
    this.#inflater = inflater;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#inflater === undefined) this.#take(controller, chunk);
    else this.#inflater.write(chunk);
  }

  onResponseEnd(): void {
    if (this.#inflater === undefined) this.#over();
    else this.#inflater.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.#inflater?.destroy();
    this.#fail(error);
  }

  #take(source: ByteSource, chunk: Buffer): void {
    if (this.#stream !== undefined) {
      this.#stream.push(chunk);
      return;
    }
    if (this.#settled) return;
    const { maxBytes, whole } = this.#options;
    this.#pieces.push(chunk);
    this.#length += chunk.length;
    if (this.#length > maxBytes + HEAD_BYTES) {
      this.#give({ kind: 'too-large' }, source);
      return;
    }
    if (this.#found === null && this.#length >= HEAD_BYTES) {
      const begin = this.#bytes();
      this.#pieces.length = 0;
      this.#pieces.push(begin);
      this.#found = findValue(begin);
      if (this.#found === null) {
        this.#give(NO_JSON_RPC, source);
        return;
      }
    }
    if (whole || this.#length <= STREAM_FROM) return;
    // The stream of an answer with a failing status would not be read.
    if (this.#found?.kind !== 'result' || this.#status !== 200) {
      this.#give({ kind: 'too-large' }, source);
      return;
    }
    const stream = new ChunkQueue(source, () => this.#end());
    this.#stream = stream;
    this.#give(streamedAnswer(this.#bytes(), this.#found, stream, maxBytes));
  }

  #over(): void {
    this.#end();
    if (this.#stream !== undefined) {
      this.#stream.end();
      this.#options.streamed(true);
    } else if (!this.#settled) this.#give(this.#whole());
  }

  #whole(): ReadAnswer {
    const { maxBytes } = this.#options;
    // The beginning was joined to find the value in it.
    const [first] = this.#pieces;
    const joined = first !== undefined && first.length >= HEAD_BYTES;
    if (this.#found !== null && joined && this.#length > STREAM_FROM) {
      return answerOfPieces([...this.#pieces], this.#found, maxBytes);
    }
    return answerOf(this.#bytes(), maxBytes, this.#found ?? undefined);
  }

  /** Once an answer is returned and not streamed, nothing more of it is read. */
  #give(read: ReadAnswer, stopped?: ByteSource): void {
    this.#settled = true;
    this.#pieces.length = 0;
    this.#resolve({
      ...{ status: this.#status, retryAfter: this.#retryAfter, headAt: this.#headAt, read },
      encoding: this.#inflater === undefined ? 'identity' : 'gzip',
      bytes: this.#length,
    });
    stopped?.abort(new Error('the rest of the answer is not wanted'));
  }

  #fail(error: Error): void {
    if (this.#stream !== undefined) this.#stream.fail(error);
    else if (!this.#settled) {
      this.#settled = true;
      this.#reject(
        this.#status === 0
          ? error
          : Object.assign(new Error(error.message, { cause: error }), { sent: true }),
      );
    }
  }

  #end(): void {
    this.#signal.removeEventListener('abort', this.stop);
  }

  #bytes(): Buffer {
    const [first = Buffer.alloc(0), ...more] = this.#pieces;
    return more.length === 0 ? first : Buffer.concat(this.#pieces, this.#length);
  }
}

/** The received and unread bytes of a stream; one reader. */
class ChunkQueue implements AsyncIterator<Buffer> {
  readonly #source: ByteSource;
  readonly #left: () => void;
  readonly #chunks: Buffer[] = [];
  #waiting = 0;
  #state: 'open' | 'ended' | Error = 'open';
  #wake: (() => void) | undefined;

  constructor(source: ByteSource, left: () => void) {
    this.#source = source;
    this.#left = left;
  }

  push(chunk: Buffer): void {
    if (this.#state !== 'open') return;
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    if (this.#waiting >= WAITING_BYTES) this.#source.pause();
    this.#wake?.();
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'ended';
    this.#wake?.();
  }

  fail(error: Error): void {
    if (this.#state === 'open') this.#state = error;
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#waiting -= chunk.length;
        if (this.#chunks.length === 0 && this.#source.paused) this.#source.resume();
        return { done: false, value: chunk };
      }
      if (this.#state === 'ended') return { done: true, value: undefined };
      if (this.#state !== 'open') throw this.#state;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The reader stops before the end. */
  async return(): Promise<IteratorResult<Buffer, undefined>> {
    if (this.#state === 'open') {
      this.#state = new Error('nobody reads the answer any more');
      this.#source.abort(this.#state);
    }
    this.#chunks.length = 0;
    this.#left();
    return { done: true, value: undefined };
  }
}
