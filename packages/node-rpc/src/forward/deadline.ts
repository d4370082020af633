import { crc32 } from 'node:zlib';
import type { CallController } from '@packhouse/runtime';
import type { ForwardAnswer, ForwardRequest, ResultBody } from './send/forward-request.js';
import { TIMED_OUT } from './send/forward-upstream.js';

/** The time that a call has, as its work sees it. */
interface Deadline {
  /** One controller per try, none for the call. */
  readonly tries: Set<CallController>;
  /** Throws if the time is over, or the client has disconnected. */
  check(): void;
}

/** The tries of a call: one that begins after its end is ended at once. */
class Tries extends Set<CallController> {
  #reason: unknown;

  override add(one: CallController): this {
    if (this.#reason !== undefined) one.abort(this.#reason);
    return super.add(one);
  }

  stop(reason: unknown): void {
    this.#reason = reason;
    for (const each of this) each.abort(reason);
  }
}

/**
 * Works on a call until its time is over or its signal is aborted, which ends its tries; a streamed answer has until its
 * end. Rejects only with the signal's reason. `isWaiting`: the call waits for its turn at a node.
 */
export async function withDeadline(
  request: ForwardRequest,
  isWaiting: () => boolean,
  work: (deadline: Deadline) => Promise<ForwardAnswer>,
): Promise<ForwardAnswer> {
  const { signal, timeoutMs } = request;
  const tries = new Tries();
  const abort = (): void => tries.stop(signal.reason);
  if (signal.aborted) throw signal.reason;
  signal.addEventListener('abort', abort, { once: true });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    tries.stop(TIMED_OUT);
  }, timeoutMs);
  const done = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  };
  const check = (): void => {
    if (late || signal.aborted) throw TIMED_OUT;
  };
  let streaming = false;
  try {
    const answer = await work({ tries, check });
    if (answer.kind !== 'result' || answer.body.rest === null) return answer;
    streaming = true;
    const { rest } = answer.body;
    const leave = (): Promise<unknown> | undefined => {
      done();
      return rest[Symbol.asyncIterator]().return?.();
    };
    return { ...answer, body: { ...answer.body, rest: leavable(finallyDo(rest, done), leave) } };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!late) throw error;
    if (isWaiting()) {
      const detail = `other calls of this client kept the nodes busy for ${timeoutMs} ms`;
      return { kind: 'failed', reason: 'busy', detail, retryAfterMs: 1_000 };
    }
    return { kind: 'failed', reason: 'timeout', detail: `no node answered within ${timeoutMs} ms` };
  } finally {
    if (!streaming) done();
  }
}

async function* finallyDo<T>(source: AsyncIterable<T>, done: () => void): AsyncGenerator<T, undefined> {
  try {
    yield* source;
    return undefined;
  } finally {
    done();
  }
}

type Result = Extract<ForwardAnswer, { kind: 'result' }>;

/** What was read of a stream: enough to recognise it in another answer, without keeping it. */
interface ReadPart {
  bytes: number;
  sum: number;
  last: Buffer;
}

/**
 * The rest of a streamed answer, of which the beginning was sent already. If its upstream breaks off, `askOther` asks one
 * beside those that were `tried`, and its answer is gone on with behind what was read, if its bytes up to there are the
 * same: nodes of one program write the same text. Otherwise the stream breaks off.
 */
export function resumeElsewhere(
  result: Result,
  askOther: (tried: readonly string[]) => Promise<ForwardAnswer | null>,
): AsyncIterableIterator<Buffer> {
  const { rest } = result.body;
  return leavable(resumed(result, askOther), () => rest?.[Symbol.asyncIterator]().return?.());
}

async function* resumed(
  { body, upstream }: Result,
  askOther: (tried: readonly string[]) => Promise<ForwardAnswer | null>,
): AsyncGenerator<Buffer, undefined> {
  const read: ReadPart = { bytes: 0, sum: 0, last: Buffer.alloc(0) };
  note(read, body.bytes);
  const tried = [upstream];
  let rest = body.rest ?? none();
  for (;;) {
    try {
      for await (const piece of rest) {
        note(read, piece);
        yield piece;
      }
      return undefined;
    } catch (error) {
      const same = await findSame(read, tried, askOther);
      if (same === null) throw error;
      rest = same;
    }
  }
}

/** A checksum, with the last piece, since what differs does so by chance: a cryptographic hash takes longer than all else. */
function note(read: ReadPart, piece: Buffer): void {
  read.bytes += piece.length;
  read.sum = crc32(piece, read.sum);
  read.last = piece;
}

/** What follows in another upstream's answer; null if none has the same. Adds the upstreams to `tried`. */
async function findSame(
  read: ReadPart,
  tried: string[],
  askOther: (tried: readonly string[]) => Promise<ForwardAnswer | null>,
): Promise<AsyncIterable<Buffer> | null> {
  for (;;) {
    const other = await askOther(tried);
    if (other?.kind !== 'result') return null;
    tried.push(other.upstream);
    const rest = await skipSame(read, other.body);
    if (rest !== null) return rest;
  }
}

/** What follows what was read; null if the text up to there is another one, or breaks off. */
async function skipSame(read: ReadPart, body: ResultBody): Promise<AsyncIterable<Buffer> | null> {
  const pieces = allOf(body);
  const again: ReadPart = { bytes: 0, sum: 0, last: Buffer.alloc(0) };
  const tail: Buffer[] = [];
  const tailStart = read.bytes - read.last.length;
  try {
    while (again.bytes < read.bytes) {
      const { done, value } = await pieces.next();
      if (done === true) return null;
      const from = again.bytes;
      const known = value.subarray(0, read.bytes - from);
      note(again, known);
      tail.push(known.subarray(Math.max(0, tailStart - from)));
      if (again.bytes < read.bytes) continue;
      const isSame = again.sum === read.sum && Buffer.concat(tail).equals(read.last);
      if (isSame) return following(value.subarray(known.length), pieces);
    }
  } catch {
    return null;
  }
  await pieces.return(undefined);
  return null;
}

async function* following(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first;
  yield* rest;
}

async function* allOf({ bytes, pieces, rest }: ResultBody): AsyncGenerator<Buffer, undefined> {
  yield* pieces ?? [bytes];
  yield* rest ?? none();
  return undefined;
}

async function* none(): AsyncGenerator<Buffer> {
  // Nothing follows what was read at once.
}

/**
 * A generator that calls `leave` if its reader leaves before the first piece: one that has not begun runs no `finally`, and
 * would keep what it reads from until a time limit.
 */
function leavable<T>(
  pieces: AsyncGenerator<T, undefined>,
  leave: () => Promise<unknown> | undefined,
): AsyncIterableIterator<T> {
  let begun = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      begun = true;
      return pieces.next();
    },
    async return() {
      if (!begun) await leave();
      return pieces.return(undefined);
    },
  };
}
