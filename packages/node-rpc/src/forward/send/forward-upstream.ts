import type { Network } from '@packhouse/networks';
import {
  type CallSignal,
  type Context,
  createFairTurns,
  isBudgetError,
  type PackhouseError,
  type Span,
  TooManyWaitingError,
} from '@packhouse/runtime';
import { type Account, NOBODY } from '../../spending/spending.js';
import { createMethodEncodings } from '../../upstream/http.js';
import { smooth, Upstream, type UpstreamOptions } from '../../upstream/upstream.js';
import { judgeSocket, parseRetryAfter } from '../../upstream/verdict.js';
import { type CallBatches, createCallBatches, type Joined } from './batch-calls.js';
import { checkBody } from './check-result.js';
import type { Disproof, ForwardRequest, InvalidResponse } from './forward-request.js';
import { judgeAnswer, type TryOutcome } from './judge-answer.js';
import { type PostedAnswer, postCall } from './post-call.js';
import { AnswerReader } from './read-answer.js';

/*
 * The reasons of the signal if a try ends before its answer. Created once: an error per call costs as much as a small
 * answer. Any other reason means that the client disconnected.
 */

/** The call timed out. */
export const TIMED_OUT = new Error('no node answered in time');

/** Another upstream answered first. */
export const OVERTAKEN = new Error('another node was faster');

const CONNECT_TIMEOUT_MS = 5_000;
/** Calls that may wait for a connection to one upstream: of one caller, and of all. */
const MAX_WAITING = { each: 1_000, all: 10_000 };
/** The outcome if too many calls of a client wait. */
const BUSY: TryOutcome = {
  kind: 'elsewhere',
  reason: 'busy',
  detail: `${MAX_WAITING.each} calls of this client wait for a node already`,
  unsent: true,
  retryAfterMs: 1_000,
};

export interface ForwardOptions extends Pick<UpstreamOptions, 'upstream' | 'metrics' | 'spending'> {
  network: Network;
  context: Context;
  times: MethodTimes;
  onInvalidResponse: (response: InvalidResponse) => void;
  /** Requests that wait for a connection. */
  waiting: WeakSet<ForwardRequest>;
}

/** An upstream that calls of clients are forwarded to. */
export class ForwardUpstream extends Upstream {
  inFlight = 0;
  /** Whether its final block was compared with those of the others since it answered again. */
  isCompared = true;
  /** Its head is far above those of all others, and its chain was not seen to contain them: not believed. */
  isFarAhead = false;
  readonly maxInFlight: number;
  readonly #options: ForwardOptions;
  readonly #turns: ReturnType<typeof createFairTurns>;
  readonly #gzipHeaders: Readonly<Record<string, string>>;
  readonly #getEncoding: ReturnType<typeof createMethodEncodings>;
  readonly #batches: CallBatches | undefined;

  constructor(options: ForwardOptions) {
    const { maxInFlight } = options.upstream;
    // The signal of each try ends it.
    const times = { connections: maxInFlight, connectTimeoutMs: CONNECT_TIMEOUT_MS, timeoutMs: 0 };
    super({ ...options, ...times });
    this.chainDoubtful = true;
    this.maxInFlight = maxInFlight;
    this.#options = options;
    this.#turns = createFairTurns(maxInFlight, MAX_WAITING);
    this.#gzipHeaders = { ...this.http.headers, 'accept-encoding': 'gzip' };
    this.#getEncoding = createMethodEncodings(this.http.hostname, MAX_METHODS);
    // Providers, which are not reached without TLS, often bill for each call, and those of a late batch are sent again.
    const { batchCalls = this.http.isPlain } = options.upstream;
    this.#batches = batchCalls ? this.#createBatches(options) : undefined;
  }

  #createBatches({ context, metrics, network }: ForwardOptions): CallBatches {
    const { headers } = this.http;
    const request = { maxBytes: Number.POSITIVE_INFINITY, whole: true };
    return createCallBatches({
      clock: context.clock,
      family: network.family,
      waiting: () => this.#turns.waiting,
      takeIds: this.http.takeIds,
      post: (body, reader, signal, over) =>
        postCall(this.http, { headers, body, request, reader, over, streamed: () => undefined }, signal),
      ended: (method, outcome, calls) => {
        metrics.batched(outcome);
        if (outcome === 'ok') return;
        if (outcome === 'crossed') {
          this.http.renew();
          this.failed('answers to other requests');
        }
        context.logger.debug(
          { upstream: this.name, method, calls, outcome },
          'batch sent again as single calls',
        );
      },
    });
  }

  /** How many calls of a method that come at once share a request now; 1: none. */
  callsTogether(method: string): number {
    return this.#isWell() ? (this.#batches?.sizes.most(method) ?? 1) : 1;
  }

  /** Sends one call and learns from the outcome. Rejects only when the signal is aborted. */
  async tryOnce(request: ForwardRequest, signal: CallSignal): Promise<TryOutcome> {
    this.inFlight += 1;
    let probe: ReturnType<typeof this.circuit.enter> | undefined;
    try {
      const entering = this.#enter(request, signal);
      const leave = entering instanceof Promise ? await entering : entering;
      // The node's own time begins here: what the call waited for its turn is held against no node.
      probe = this.circuit.enter();
      const span = request.span?.child(request.method, { 'packhouse.upstream': this.name }, 'calls');
      if (span === undefined) return await this.#send(request, signal, undefined, leave);
      return await traced(span, this.#send(request, signal, span, leave));
    } catch (error) {
      if (!(error instanceof TooManyWaitingError)) throw error;
      this.count(request.method, 'busy', 1);
      return BUSY;
    } finally {
      this.inFlight -= 1;
      probe?.leave();
    }
  }

  /** Takes a place among the requests in flight. */
  #enter(request: ForwardRequest, signal: CallSignal): (() => void) | Promise<() => void> {
    const leave = this.#turns.enter(request.caller ?? '', signal);
    if (!(leave instanceof Promise)) return leave;
    const { waiting } = this.#options;
    waiting.add(request);
    // It stays if its time ends first: see withDeadline.
    return leave.then((free) => {
      waiting.delete(request);
      return free;
    });
  }

  /** `leave` frees its place among the requests in flight; `again`: its first request brought no answer to it. */
  async #send(
    request: ForwardRequest,
    signal: CallSignal,
    span: Span | undefined,
    leave: () => void,
    again = false,
  ): Promise<TryOutcome> {
    const { method } = request;
    const { spending } = this;
    const account: Account = request.account ?? NOBODY;
    const use = account.use ?? 'urgent';
    const taken = spending.take(method, 1, use, signal, request.caller);
    if (typeof taken !== 'number') {
      try {
        await taken;
      } catch (error) {
        leave();
        if (!isBudgetError(error)) throw error;
        this.count(method, 'unavailable', 1);
        return toThrottledOutcome(error, spending.refusal(use)?.waitMs);
      }
    }
    const startedAt = performance.now();
    spending.sent(method, 1, account);
    let holdsPlace = true;
    try {
      let joined: Joined = 'alone';
      const joining = this.#mayJoin(request, span, again)
        ? this.#batches?.join(request, signal, leave)
        : undefined;
      if (joining !== undefined) {
        holdsPlace = false;
        joined = await joining;
      }
      if (joined === 'alone') {
        holdsPlace = true;
        joined = await this.#sendAlone(request, signal, span, leave);
      }
      if (joined !== 'again') {
        spending.received(method, joined.bytes, account);
        const outcome = await this.#judge(request, joined, startedAt, signal);
        const { read } = joined;
        const isForeign = read.kind === 'nonsense' && read.foreign === true;
        // Once more over a new connection: the answer may be lost with the old one.
        if (!isForeign || again || !request.idempotent) return outcome;
      }
    } catch (error) {
      if (holdsPlace) leave();
      return this.#noteFailure(request, signal, error, startedAt);
    }
    return this.#send(request, signal, span, await this.#enter(request, signal), true);
  }

  /** Whether it may share a request with others: it can be repeated, and nothing is wrong with the upstream. */
  #mayJoin({ alone, idempotent }: ForwardRequest, span: Span | undefined, again: boolean): boolean {
    const isTraced = span !== undefined && this.#options.upstream.propagateTrace === true;
    return idempotent && alone !== true && !again && !isTraced && this.#isWell();
  }

  #isWell(): boolean {
    return this.circuit.state === 'closed' && this.pause.waitMs() === 0;
  }

  async #sendAlone(
    request: ForwardRequest,
    signal: CallSignal,
    span: Span | undefined,
    leave: () => void,
  ): Promise<PostedAnswer> {
    const { method } = request;
    const startedAt = performance.now();
    const encoding = this.#getEncoding(method);
    const own = encoding.next() === 'gzip' ? this.#gzipHeaders : this.http.headers;
    const isTraced = span !== undefined && this.#options.upstream.propagateTrace === true;
    const headers = isTraced ? { ...own, traceparent: span.traceparent } : own;
    const answer = await this.#post(request, signal, headers, leave, startedAt);
    const ms = performance.now() - startedAt;
    encoding.note(answer.encoding, answer.bytes, ms);
    if (request.idempotent) this.#batches?.sizes.single(method, ms, answer.bytes);
    return answer;
  }

  async #judge(
    request: ForwardRequest,
    answer: PostedAnswer,
    startedAt: number,
    signal: CallSignal,
  ): Promise<TryOutcome> {
    const { method } = request;
    const { context, network, times } = this.#options;
    const tookMs = answer.headAt - startedAt;
    this.answeredAfter(tookMs);
    const { retryAfter } = answer;
    const wait = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, context.clock.now());
    const disproof = request.prove === undefined ? null : await this.#prove(request, answer, signal);
    const outcome = judgeAnswer(this, network.family, request, answer, wait, startedAt, disproof);
    if (outcome.kind !== 'elsewhere') times.answered(method, tookMs);
    this.#countSince(startedAt, method, toLabel(outcome));
    return outcome;
  }

  /** The outcome of a try that broke off. Throws the signal's reason if that ended it. */
  #noteFailure(request: ForwardRequest, signal: CallSignal, error: unknown, startedAt: number): TryOutcome {
    const { method } = request;
    if (signal.aborted) {
      this.#noteAborted(request, signal.reason, startedAt);
      throw signal.reason;
    }
    this.failed('no connection, or one that broke');
    this.#countSince(startedAt, method, 'unavailable');
    this.#options.context.logger.debug(
      { upstream: this.name, method, err: error },
      'upstream request failed',
    );
    const unsent = (error as { sent?: boolean }).sent !== true && judgeSocket(error).unsent;
    return { kind: 'elsewhere', reason: 'unavailable', detail: 'a node broke off', unsent };
  }

  #post(
    request: ForwardRequest,
    signal: CallSignal,
    headers: Readonly<Record<string, string>>,
    leave: () => void,
    startedAt: number,
  ): Promise<PostedAnswer> {
    const id = this.http.takeIds(1);
    return postCall(
      this.http,
      {
        headers,
        body: `{"jsonrpc":"2.0","id":${id},"method":"${request.method}","params":${request.params}}`,
        request,
        reader: new AnswerReader(request, id),
        over: leave,
        streamed: (fault) => {
          if (fault === null) this.circuit.succeeded();
          else {
            this.failed(fault.what);
            // Its beginning was counted as a result.
            this.#countSince(startedAt, request.method, fault.reason);
          }
        },
      },
      signal,
    );
  }

  /** Only what a client would get is proved; what contradicts itself or its question is judged without. */
  async #prove(
    request: ForwardRequest,
    { read, status }: PostedAnswer,
    signal: CallSignal,
  ): Promise<Disproof | null> {
    if (read.kind !== 'result' || status !== 200 || read.body.rest !== null) return null;
    const check = request.check?.();
    if (check !== undefined && checkBody(check, read.body) !== null) return null;
    const disproof = (await request.prove?.(read.body.bytes, signal)) ?? null;
    if (disproof?.isFalse) {
      const { method } = request;
      this.noteInvalidResponse(method);
      this.#options.onInvalidResponse({ upstream: this.name, method, reason: disproof.reason });
    }
    return disproof;
  }

  #countSince(startedAt: number, method: string, outcome: string): void {
    this.count(method, outcome, 1);
    this.took(method, performance.now() - startedAt);
  }

  /** Notes what a try that was ended before its answer shows about the upstream. */
  #noteAborted({ method, timeoutMs }: ForwardRequest, reason: unknown, startedAt: number): void {
    const ms = performance.now() - startedAt;
    if (reason === OVERTAKEN) {
      // The real time would have been even longer.
      if (ms > (this.latencyMs ?? 0)) this.answeredAfter(ms);
      // The one try of an upstream that rests must succeed, or every call would wait for it first.
      if (this.circuit.state !== 'closed') this.failed('slower than another node');
    } else if (reason === TIMED_OUT) {
      this.#countSince(startedAt, method, 'timeout');
      // An upstream that was asked near the end had too little time to be judged.
      if (2 * ms >= timeoutMs) this.failed('no answer in time');
    }
  }
}

/** Ends the span of a try: answered, failed (another upstream has to be asked), or given up. */
async function traced(span: Span, asking: Promise<TryOutcome>): Promise<TryOutcome> {
  try {
    const outcome = await asking;
    if ('reason' in outcome) span.fail(outcome.reason);
    else if (outcome.kind === 'error') span.note({ 'rpc.response.status_code': String(outcome.code) });
    return outcome;
  } catch (error) {
    span.fail('given up');
    throw error;
  } finally {
    span.end();
  }
}

/** The outcome as metrics name it. */
function toLabel(outcome: TryOutcome): string {
  if ('reason' in outcome) return outcome.reason;
  return outcome.kind === 'result' ? 'ok' : outcome.kind;
}

/** Why a budget throttles a call. Providers are the operator's affair: clients get the time alone. */
function toThrottledOutcome({ code, data }: PackhouseError, retryAfterMs: number | undefined): TryOutcome {
  const detail =
    code === 'BUDGET_EXHAUSTED'
      ? `the budget of a node is used up until ${data.until}`
      : 'the budget of a node cannot be counted now';
  const wait = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs);
  return { kind: 'elsewhere', reason: 'unavailable', detail, unsent: true, retryAfterMs: wait };
}

/** How long each method usually takes, over all upstreams. */
export type MethodTimes = ReturnType<typeof createMethodTimes>;

/** More methods than any family has; the time of further ones is not kept. */
const MAX_METHODS = 256;
/** A second upstream is asked if the first takes this multiple of the method's usual time, within the bounds. */
const HEDGE_FACTOR = 4;
const MIN_HEDGE_MS = 100;
const MAX_HEDGE_MS = 3_000;

export function createMethodTimes() {
  const times = new Map<string, number>();
  return {
    /** Records an answer that took so many milliseconds. */
    answered(method: string, ms: number): void {
      const before = times.get(method);
      if (before !== undefined || times.size < MAX_METHODS) times.set(method, smooth(before ?? null, ms));
    },
    /** After how long a second upstream is asked beside a slow one, in milliseconds. */
    getHedgeDelay: (method: string): number =>
      Math.min(MAX_HEDGE_MS, Math.max(MIN_HEDGE_MS, (times.get(method) ?? 0) * HEDGE_FACTOR)),
  };
}
