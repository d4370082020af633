import type { CallSignal } from '@packhouse/runtime';
import type { PlainHandler } from '../../http1/plain-pool.js';
import type { UpstreamHttp } from '../../upstream/http.js';
import type { ForwardRequest } from './forward-request.js';
import { type ByteSource, createInflater, type Inflater } from './inflate.js';
import type { AnswerReader, NoAnswer, ReadAnswer } from './read-answer.js';

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
  /** The beginning of the body under a failing status. */
  text?: string;
}

/** Why a streamed answer broke off. */
interface StreamFault {
  reason: 'nonsense' | 'unavailable';
  what: string;
}

interface PostOptions {
  headers: Readonly<Record<string, string>>;
  body: string;
  request: Pick<ForwardRequest, 'maxBytes' | 'whole'>;
  reader: Pick<AnswerReader, 'push' | 'end' | 'take' | 'whole' | 'kind' | 'valueBytes'>;
  /** Called when a streamed answer is over, with what was wrong with it; null: nothing. Not called if it was given up. */
  streamed(fault: StreamFault | null): void;
  /** Called once, when the connection is free for another request, or gone. */
  over(): void;
}

/** Bytes of a body under a failing status that are kept as text. */
const TEXT_BYTES = 1_000;
/** Answers up to this size are read whole before any byte is sent on, so that a broken one can be asked for elsewhere. */
const STREAM_FROM = 262_144;
/** Bytes of a streamed answer that may wait for their reader; above, the connection is not read. */
const WAITING_BYTES = 131_072;
/** The connection is closed if the reader takes none of them for this long. */
const STALLED_MS = 10_000;

/**
 * Posts one request and reads the answer: whole, or if larger than STREAM_FROM as a stream at the pace of its reader.
 * Rejects when the connection fails, and with the signal's reason when that is aborted. The error has `sent: true` if
 * the upstream had begun to answer.
 *
 * Handlers are used rather than undici's `request`, whose streams cost more than everything else of a small call.
 */
export function postCall(
  http: Pick<UpstreamHttp, 'dispatch' | 'renew'>,
  options: PostOptions,
  signal: CallSignal,
): Promise<PostedAnswer> {
  return new Promise((resolve, reject) => {
    const { headers, body } = options;
    const handler = new AnswerHandler(http, options, signal, resolve, reject);
    if (signal.aborted) handler.stop();
    else {
      signal.addEventListener('abort', handler.stop, { once: true });
      http.dispatch({ headers, body }, handler);
    }
  });
}

class AnswerHandler implements PlainHandler {
  readonly #http: Pick<UpstreamHttp, 'renew'>;
  readonly #options: PostOptions;
  readonly #signal: CallSignal;
  readonly #resolve: (answer: PostedAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #reader: PostOptions['reader'];
  #controller: ByteSource | undefined;
  #inflater: Inflater | undefined;
  #length = 0;
  #text: string | undefined;
  #status = 0;
  #retryAfter: string | undefined;
  #headAt = 0;
  #settled = false;
  #isOver = false;
  #stream: ChunkQueue | undefined;

  constructor(
    http: Pick<UpstreamHttp, 'renew'>,
    options: PostOptions,
    signal: CallSignal,
    resolve: (answer: PostedAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#http = http;
    this.#options = options;
    this.#reader = options.reader;
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
    this.#leave();
  };

  onRequestStart(controller: ByteSource): void {
    this.#controller = controller;
    if (this.#signal.aborted) controller.abort(this.#signal.reason as Error);
  }

  onResponseStart(
    controller: ByteSource,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    const retryAfter = headers['retry-after'];
    this.#status = status;
    this.#headAt = performance.now();
    this.#retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
    if (headers['content-encoding'] !== 'gzip') return;
    const inflater = createInflater(controller, this.#options.request.maxBytes, {
      data: (chunk) => this.#take(inflater, chunk),
      end: () => this.#over(),
      failed: (error) => {
        this.#end();
        this.#broke('nonsense', 'a compressed answer that is none');
        this.#fail(error);
      },
    });
    this.#inflater = inflater;
  }

  onResponseData(controller: ByteSource, chunk: Buffer): void {
    if (this.#inflater === undefined) this.#take(controller, chunk);
    else this.#inflater.write(chunk);
  }

  onResponseEnd(): void {
    this.#leave();
    if (this.#inflater === undefined) this.#over();
    else this.#inflater.end();
  }

  onResponseError(_: ByteSource, error: Error): void {
    this.#end();
    this.#leave();
    this.#inflater?.destroy();
    this.#broke('unavailable', 'a connection that broke');
    this.#fail(error);
  }

  #take(source: ByteSource, chunk: Buffer): void {
    if (this.#settled && this.#stream?.open !== true) return;
    this.#length += chunk.length;
    if (this.#status !== 200) this.#text ??= chunk.toString('utf8', 0, TEXT_BYTES);
    const reader = this.#reader;
    const fault = reader.push(chunk);
    if (fault !== null) {
      this.#refuse(fault, source);
      return;
    }
    if (this.#stream !== undefined) {
      for (const piece of reader.take()) this.#stream.push(piece);
      return;
    }
    if (this.#options.request.whole === true || reader.valueBytes <= STREAM_FROM) return;
    // The stream of an answer with a failing status would not be read.
    if (reader.kind !== 'result' || this.#status !== 200) {
      this.#refuse({ kind: 'too-large' }, source);
      return;
    }
    const stream = new ChunkQueue(source, () => {
      this.#end();
      this.#leave();
    });
    this.#stream = stream;
    const body = { bytes: Buffer.concat(reader.take()), rest: { [Symbol.asyncIterator]: () => stream } };
    this.#settle({ kind: 'result', body });
  }

  #over(): void {
    this.#end();
    if (this.#settled && this.#stream?.open !== true) return;
    const fault = this.#reader.end();
    if (fault !== null) this.#refuse(fault);
    else if (this.#stream === undefined) this.#settle(this.#reader.whole());
    else {
      for (const piece of this.#reader.take()) this.#stream.push(piece);
      this.#stream.end();
      this.#options.streamed(null);
    }
  }

  /** Ends an answer that cannot be handed on: what was sent of it is never completed. */
  #refuse(fault: NoAnswer, source?: ByteSource): void {
    if (fault.kind === 'nonsense' && fault.foreign === true) this.#http.renew();
    if (this.#stream === undefined) {
      this.#settle(fault, source);
      return;
    }
    const what = fault.kind === 'nonsense' ? fault.what : 'an answer that grew beyond its limit';
    if (fault.kind === 'nonsense') this.#broke('nonsense', what);
    this.#end();
    const error = new Error(`a node sent ${what}`);
    this.#stream.fail(error);
    source?.abort(error);
    this.#leave();
  }

  /** Reports what is wrong with a stream that is not over yet. */
  #broke(reason: StreamFault['reason'], what: string): void {
    if (this.#stream?.open === true) this.#options.streamed({ reason, what });
  }

  /** Once an answer is returned and not streamed, nothing more of it is read. */
  #settle(read: ReadAnswer, stopped?: ByteSource): void {
    this.#settled = true;
    this.#resolve({
      // One by one: a spread makes this object several times as slow to create.
      status: this.#status,
      retryAfter: this.#retryAfter,
      headAt: this.#headAt,
      read,
      encoding: this.#inflater === undefined ? 'identity' : 'gzip',
      bytes: this.#length,
      text: this.#text,
    });
    if (stopped === undefined) return;
    stopped.abort(new Error('the rest of the answer is not needed'));
    this.#leave();
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

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.over();
  }

  #end(): void {
    this.#signal.removeEventListener('abort', this.stop);
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
  #stalled: NodeJS.Timeout | undefined;

  constructor(source: ByteSource, left: () => void) {
    this.#source = source;
    this.#left = left;
  }

  /** Neither ended, nor failed, nor left by its reader. */
  get open(): boolean {
    return this.#state === 'open';
  }

  push(chunk: Buffer): void {
    if (this.#state !== 'open') return;
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    if (this.#waiting >= WAITING_BYTES) {
      this.#source.pause();
      this.#stalled ??= setTimeout(() => this.#giveUp(new Error('the answer was not read')), STALLED_MS);
    }
    this.#wake?.();
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'ended';
    clearTimeout(this.#stalled);
    this.#wake?.();
  }

  fail(error: Error): void {
    if (this.#state === 'open') this.#state = error;
    clearTimeout(this.#stalled);
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#waiting -= chunk.length;
        if (this.#chunks.length === 0 && this.#source.paused) this.#source.resume();
        if (this.#chunks.length > 0) this.#stalled?.refresh();
        else {
          clearTimeout(this.#stalled);
          this.#stalled = undefined;
        }
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
    this.#giveUp(new Error('nobody reads the answer any more'));
    return { done: true, value: undefined };
  }

  #giveUp(why: Error): void {
    clearTimeout(this.#stalled);
    if (this.#state === 'open') {
      this.#state = why;
      this.#source.abort(why);
    }
    this.#chunks.length = 0;
    this.#left();
  }
}
