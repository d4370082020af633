import type { CallController } from '@packhouse/runtime';
import { leavable } from './resume.js';
import type { ForwardAnswer, ForwardRequest } from './send/forward-request.js';
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
