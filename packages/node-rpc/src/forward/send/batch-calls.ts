import type { Family } from '@packhouse/networks';
import { CallController, type CallSignal, type Clock, getOrAdd } from '@packhouse/runtime';
import type { Meaning } from '../../upstream/meanings.js';
import { judgeError, judgeStatus } from '../../upstream/verdict.js';
import { BodyReader, readBatchAnswer, readJointAnswer } from './batch-answer.js';
import { type CallBatchSizes, createCallBatchSizes } from './batch-size.js';
import type { ForwardRequest } from './forward-request.js';
import { parseRpcError } from './judge-answer.js';
import type { PostedAnswer } from './post-call.js';
import type { ReadAnswer } from './read-answer.js';

/*
 * Calls of one method that come at the same moment share one HTTP request to an upstream that serves batches as fast as
 * single calls: a request costs this process and the node as much as ten small calls in it.
 *
 *   join ──end of this turn of the event loop──▶ alone   no company, or not worth it: sent as a single call
 *                                        └──▶ batch ──▶ its own answer, judged as if it had come alone
 *                                                  └──▶ again   no answer of its own: sent once more as a single call
 *
 * Each call keeps its timeout, signal, budget and counts. A batch has one place among the requests in flight.
 */

/** How a batch ended, as metrics name it. */
type BatchOutcome = 'ok' | 'incomplete' | 'refused' | 'crossed' | 'late' | 'broken';

/** `again`: it may have been counted by the upstream already. */
export type Joined = PostedAnswer | 'alone' | 'again';

interface BatchCallsOptions {
  clock: Pick<Clock, 'elapsed'>;
  family: Family;
  /** Returns the first of so many successive ids. */
  takeIds(calls: number): number;
  /** Sends one HTTP request; `over` is called once when it is. */
  post(body: string, reader: BodyReader, signal: CallSignal, over: () => void): Promise<PostedAnswer>;
  /** Calls that wait for a place among the requests in flight. */
  waiting(): number;
  ended(method: string, outcome: BatchOutcome, calls: number): void;
}

/** One call that may share a request. */
interface Member {
  readonly request: Pick<ForwardRequest, 'method' | 'params' | 'maxBytes'>;
  readonly signal: CallSignal;
  /** Frees its place among the requests in flight; null once that is free, or the batch's. */
  leave: (() => void) | null;
  settled: boolean;
  settle(joined: Joined): void;
}

/** A body of a batch has this many bytes at most. */
const MAX_BODY_BYTES = 1_048_576;
/** Calls with longer parameters are sent alone. */
const MAX_PARAMS = 4_096;

/** What an upstream says of itself, and not of a batch: each call of the batch is judged by it. */
const OF_THE_UPSTREAM: ReadonlySet<Meaning> = new Set<Meaning>(['slow-down', 'plan', 'refused']);
/** Errors of single calls that they may have only because they share a request. */
const OF_THE_BATCH: ReadonlySet<Meaning> = new Set<Meaning>(['no-batch', 'too-large', 'timed-out']);

/** Joins the calls to one upstream. */
export type CallBatches = ReturnType<typeof createCallBatches>;

export function createCallBatches(options: BatchCallsOptions) {
  const { clock, waiting } = options;
  const sizes = createCallBatchSizes(clock);
  const groups = new Map<string, Member[]>();
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      const now = [...groups];
      groups.clear();
      for (const [method, members] of now) send(method, members);
    });
  };

  /** Sends the calls that came in one turn of the event loop. */
  const send = (method: string, members: readonly Member[]): void => {
    const calls = members.filter(({ settled }) => !settled);
    const most = sizes.most(method);
    if (calls.length > 1 && calls.length < most && bringsMore(calls, waiting)) {
      groups.set(method, calls);
      schedule();
      return;
    }
    // Those without a place are in the first batch, with one that has it; the last one has come last.
    if (calls.length > 1 && calls.at(-1)?.leave !== null && sizes.isAloneNext(method))
      calls.pop()?.settle('alone');
    while (calls.length > 0) {
      const batch = calls.splice(0, most);
      if (batch.length === 1 && batch[0]?.leave !== null) batch[0]?.settle('alone');
      else void sendBatch(options, sizes, method, batch);
    }
  };

  return {
    sizes,
    /**
     * Waits for company until the end of this turn of the event loop; undefined: the call has to be sent alone. It
     * frees the place with `leave`, unless the call is `alone`. Rejects with the signal's reason.
     */
    join(request: Member['request'], signal: CallSignal, leave: () => void): Promise<Joined> | undefined {
      const { method, params } = request;
      if (params.length > MAX_PARAMS || sizes.most(method) === 1 || signal.aborted) return undefined;
      return new Promise((resolve, reject) => {
        const gone = (): void => {
          member.settled = true;
          free(member);
          reject(signal.reason);
        };
        const member: Member = {
          request,
          signal,
          leave,
          settled: false,
          settle(joined) {
            if (member.settled) return;
            member.settled = true;
            signal.removeEventListener('abort', gone);
            resolve(joined);
          },
        };
        signal.addEventListener('abort', gone, { once: true });
        getOrAdd(groups, method, () => []).push(member);
        schedule();
      });
    },
  };
}

/** One place is enough for all of them: whether others, who wait for one, come along. */
function bringsMore(calls: readonly Member[], waiting: () => number): boolean {
  const before = waiting();
  if (before === 0) return false;
  const place = calls.find(({ leave }) => leave !== null);
  for (const call of calls) if (call !== place) free(call);
  return waiting() < before;
}

/** Sends a batch; none of its calls is left without an answer, or the word that it has none. */
async function sendBatch(
  { ended, family, post, takeIds }: BatchCallsOptions,
  sizes: CallBatchSizes,
  method: string,
  calls: readonly Member[],
): Promise<void> {
  const place = calls.find(({ leave }) => leave !== null);
  const over = place?.leave ?? ignore;
  if (place !== undefined) place.leave = null;
  for (const call of calls) free(call);
  const stop = new CallController();
  let open = calls.length;
  const offs = calls.map(({ signal }) => {
    const gone = (): void => {
      open -= 1;
      if (open === 0) stop.abort(signal.reason);
    };
    signal.addEventListener('abort', gone, { once: true });
    return () => signal.removeEventListener('abort', gone);
  });
  let outcome: BatchOutcome = 'ok';
  const timer = setTimeout(() => {
    outcome = 'late';
    stop.abort(LATE);
  }, sizes.patienceMs(method));
  const startedAt = performance.now();
  sizes.begun();
  try {
    const firstId = takeIds(calls.length);
    const body = `[${calls.map((call, at) => toText(call, firstId + at)).join(',')}]`;
    const answer = await post(body, new BodyReader(MAX_BODY_BYTES), stop, over);
    outcome = settleAll(family, method, calls, firstId, answer);
    if (outcome === 'ok') {
      sizes.answered(method, calls.length, performance.now() - startedAt, answer.bytes);
    }
  } catch {
    // Nobody waits any more, or the connection broke.
    if (open === 0) {
      sizes.givenUp();
      return;
    }
    if (outcome === 'ok') outcome = 'broken';
  } finally {
    clearTimeout(timer);
    for (const off of offs) off();
  }
  if (outcome !== 'ok') sizes.tooMuch(method);
  ended(method, outcome, calls.length);
  for (const call of calls) call.settle('again');
}

/** Gives each call its answer. Those that are left have none of their own. */
function settleAll(
  family: Family,
  method: string,
  calls: readonly Member[],
  firstId: number,
  answer: PostedAnswer,
): BatchOutcome {
  const { read, status } = answer;
  if (read.kind !== 'result') return 'incomplete';
  const { bytes: body } = read.body;
  const ids = { firstId, calls: calls.length };
  const batch = status === 200 ? readBatchAnswer(body, ids) : null;
  const subject = { method, family, calls: calls.length };
  if (batch === null) {
    const joint = readJointAnswer(body, ids);
    if (joint.kind === 'nonsense' && joint.foreign === true) return 'crossed';
    const error = joint.kind === 'error' ? parseRpcError(joint.error) : null;
    const { meaning } =
      error === null ? judgeStatus(status) : judgeError(status, error.code, error.message, subject);
    if (!OF_THE_UPSTREAM.has(meaning)) return 'refused';
    for (const call of calls) call.settle(toOwn(answer, joint, 0));
    return 'refused';
  }
  let outcome: BatchOutcome = batch.isCrossed ? 'crossed' : 'ok';
  for (const [at, call] of calls.entries()) {
    const item = batch.items[at];
    if (item === undefined || item.bytes > call.request.maxBytes || isOfBatch(item.read, subject)) {
      if (outcome === 'ok') outcome = 'incomplete';
    } else call.settle(toOwn(answer, item.read, item.bytes));
  }
  return outcome;
}

const LATE = new Error('the batch took longer than single calls');

const ignore = (): void => undefined;

function free(member: Member): void {
  member.leave?.();
  member.leave = null;
}

function toText({ request: { method, params } }: Member, id: number): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
}

/** The answer of a batch as that of one of its calls. */
function toOwn(
  { encoding, headAt, retryAfter, status, text }: PostedAnswer,
  read: ReadAnswer,
  bytes: number,
): PostedAnswer {
  return { status, retryAfter, headAt, read, encoding, bytes, text };
}

function isOfBatch(read: ReadAnswer, subject: Parameters<typeof judgeError>[3]): boolean {
  if (read.kind !== 'error') return false;
  const error = parseRpcError(read.error);
  return error === null || OF_THE_BATCH.has(judgeError(200, error.code, error.message, subject).meaning);
}
