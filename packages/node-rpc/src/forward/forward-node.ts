import type { Upstream as Configured, Network } from '@packhouse/networks';
import {
  type CallSignal,
  type Context,
  createFairTurns,
  isBudgetError,
  type PackhouseError,
  type Span,
  TooManyWaitingError,
} from '@packhouse/runtime';
import { type Account, NOBODY, type Spending } from '../spending/spending.js';
import { createMethodEncodings } from '../upstream/encoding-choice.js';
import type { ForwardMetrics } from '../upstream/metrics.js';
import { createUpstream, smooth, type Upstream } from '../upstream/upstream.js';
import { judgeSocket, retryAfterMs } from '../upstream/verdict.js';
import type { Disproof, FalseAnswer, ForwardRequest } from './forwarder.js';
import { createHistory, type History } from './history.js';
import { createJudge, type TryOutcome } from './judge-answer.js';
import { type PostedAnswer, postCall } from './post-call.js';

/** An upstream that calls of clients are forwarded to. */
export interface ForwardNode extends Upstream {
  finalized: number | null;
  /** Its last answer for the tag `finalized`. */
  tagged: number | null;
  readonly history: History;
  /** When its head was last heard, in the clock's milliseconds. */
  readonly headAt: number;
  /** Notes its head, as it answered a question of the time `askedAt` (performance.now). */
  sawHead(head: number, askedAt: number): void;
  inFlight: number;
  /** On another chain, or cordoned: see `exclude`. */
  readonly excluded: boolean;
  /** When it last reported its chain, or that it cannot, in the clock's milliseconds; null: not since it was gone. */
  identifiedAt: number | null;
  /** Sets whether it is on another chain; its earlier answers about its head no longer count. */
  exclude(excluded: boolean): void;
  /** Takes it out, or puts it back: then it is asked for its chain again. */
  cordon(is: boolean): void;
  /** Rejects only when the signal is aborted. */
  tryOnce(request: ForwardRequest, signal: CallSignal): Promise<TryOutcome>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Calls that may wait for a connection to one upstream: of one caller, and of all. */
const MOST_WAITING = { each: 1_000, all: 10_000 };
/** The wait that a client is asked for if too many of its calls wait. */
const BUSY: TryOutcome = {
  kind: 'elsewhere',
  reason: 'busy',
  detail: `${MOST_WAITING.each} calls of this client wait for a node already`,
  unsent: true,
  retryAfterMs: 1_000,
};

/** Opens the connections to one upstream; nothing is asked yet. */
export function createForwardNode(options: {
  upstream: Configured;
  network: Network;
  context: Context;
  metrics: ForwardMetrics;
  times: MethodTimes;
  spending: Spending | undefined;
  onFalseAnswer: (answer: FalseAnswer) => void;
  /** Requests that wait for a connection. */
  waiting: WeakSet<ForwardRequest>;
}): ForwardNode {
  const { context, metrics, network, onFalseAnswer, times, upstream, waiting } = options;
  const { clock } = context;
  const { name } = upstream;
  const self = createUpstream({
    upstream,
    network,
    context,
    spending: options.spending,
    connections: upstream.maxInFlight,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    // The signal of each try ends it.
    timeoutMs: 0,
    onRest: (rests) => {
      // Another node may answer after the rest.
      if (rests) node.identifiedAt = null;
      metrics.healthy(name, !rests && !node.excluded);
    },
  });
  const { circuit, http, spending } = self;
  const { headers, path, pool } = http;
  const gzipHeaders = { ...headers, 'accept-encoding': 'gzip' };
  const asked = (method: string, outcome: string, ms: number): void => {
    metrics.asked(name, method, outcome, ms);
    self.recent.called(method, outcome, 1);
    if (ms > 0) self.recent.answered(method, ms);
  };
  const turns = createFairTurns(upstream.maxInFlight, MOST_WAITING);
  const encodingOf = createMethodEncodings(http.hostname, MOST_METHODS);

  /** Notes what a try that was ended before its answer shows about the upstream. */
  const givenUp = (request: ForwardRequest, reason: unknown, ms: number): void => {
    if (reason === OVERTAKEN) {
      // The real time would have been even longer.
      if (ms > (node.latencyMs ?? 0)) self.answeredAfter(ms);
      // The one try of an upstream that rests must succeed, or every call would wait for it first.
      if (circuit.state !== 'closed') self.failed('slower than another node');
    } else if (reason === TIMED_OUT) {
      asked(request.method, 'timeout', ms);
      // An upstream that was asked near the end had too little time to be judged.
      if (2 * ms >= request.timeoutMs) self.failed('no answer in time');
    }
  };

  /** Only what a client would get is proved; what does not even fit is judged without. */
  const prove = async (
    request: ForwardRequest,
    status: number,
    read: PostedAnswer['read'],
    signal: CallSignal,
  ): Promise<Disproof | null> => {
    if (read.kind !== 'result' || status !== 200 || read.body.rest !== null) return null;
    const { bytes } = read.body;
    if (request.fits?.(bytes) === false) return null;
    const disproof = (await request.prove?.(bytes, signal)) ?? null;
    if (disproof?.isFalse) {
      metrics.lied(name, request.method);
      self.lies += 1;
      onFalseAnswer({ upstream: name, method: request.method, why: disproof.why });
    }
    return disproof;
  };

  const ask = async (
    request: ForwardRequest,
    signal: CallSignal,
    span: Span | undefined,
    leave: () => void,
  ): Promise<TryOutcome> => {
    const account: Account = request.account ?? NOBODY;
    const taken = spending.take(request.method, 1, account.use ?? 'urgent', signal, request.caller);
    if (typeof taken !== 'number') {
      try {
        await taken;
      } catch (error) {
        leave();
        if (!isBudgetError(error)) throw error;
        asked(request.method, 'unavailable', 0);
        return keptBack(error, spending.refusal(account.use ?? 'urgent')?.waitMs);
      }
    }
    const startedAt = performance.now();
    spending.sent(request.method, 1, account);
    try {
      const encoding = encodingOf(request.method);
      const own = encoding.next() === 'gzip' ? gzipHeaders : headers;
      const answer = await postCall(
        pool,
        {
          path,
          headers:
            span !== undefined && upstream.propagateTrace === true
              ? { ...own, traceparent: span.traceparent }
              : own,
          body: `{"jsonrpc":"2.0","id":1,"method":"${request.method}","params":${request.params}}`,
          maxBytes: request.maxBytes,
          whole: request.whole ?? false,
          passedOn: request.passedOn ?? false,
          over: leave,
          streamed: (fault) => {
            if (fault === null) circuit.succeeded();
            else {
              self.failed(fault.what);
              // Its beginning was counted as a result.
              asked(request.method, fault.reason, performance.now() - startedAt);
            }
          },
        },
        signal,
      );
      const { status, retryAfter, headAt, read } = answer;
      encoding.saw(answer.encoding, answer.bytes, performance.now() - startedAt);
      spending.received(request.method, answer.bytes, account);
      const took = headAt - startedAt;
      self.answeredAfter(took);
      const wait = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, clock.now());
      const disproof = request.prove === undefined ? null : await prove(request, status, read, signal);
      const outcome = judge(request, read, status, wait, startedAt, disproof);
      if (outcome.kind !== 'elsewhere') times.answered(request.method, took);
      asked(
        request.method,
        'reason' in outcome ? outcome.reason : outcome.kind,
        performance.now() - startedAt,
      );
      return outcome;
    } catch (error) {
      leave();
      const ms = performance.now() - startedAt;
      if (signal.aborted) {
        givenUp(request, signal.reason, ms);
        throw signal.reason;
      }
      self.failed('no connection, or one that broke');
      asked(request.method, 'unavailable', ms);
      context.logger.debug({ upstream: name, method: request.method, err: error }, 'node could not be asked');
      const unsent = (error as { sent?: boolean }).sent !== true && judgeSocket(error).unsent;
      return { kind: 'elsewhere', reason: 'unavailable', detail: 'a node broke off', unsent };
    }
  };

  const history = createHistory(upstream, clock);
  const judge = createJudge(self, network.family, history);
  metrics.healthy(name, true);

  let heardAt = 0;
  const node: ForwardNode = Object.assign(self, {
    finalized: null,
    tagged: null,
    history,
    headAt: 0,
    sawHead(head: number, askedAt: number) {
      // Answers may overtake each other: an older question does not take the head back.
      if (node.head !== null && head < node.head && askedAt < heardAt) return;
      heardAt = performance.now();
      Object.assign(node, { head, headAt: clock.elapsed() });
    },
    inFlight: 0,
    excluded: false,
    identifiedAt: null,
    exclude(onAnother: boolean) {
      const yes = onAnother || node.cordoned;
      Object.assign(node, { excluded: yes, head: null, finalized: null, tagged: null });
      metrics.healthy(name, !yes && circuit.state === 'closed');
    },
    cordon(is: boolean) {
      Object.assign(node, { cordoned: is, identifiedAt: null });
      node.exclude(false);
    },
    async tryOnce(request: ForwardRequest, signal: CallSignal) {
      node.inFlight += 1;
      let probe: ReturnType<typeof circuit.enter> | undefined;
      try {
        const entered = turns.enter(request.caller ?? '', signal);
        let leave = entered;
        if (leave instanceof Promise) {
          waiting.add(request);
          leave = await leave;
          waiting.delete(request);
        }
        // The node's own time begins here: what the call waited for its turn is held against no node.
        probe = circuit.enter();
        const span = request.span?.child(request.method, { 'packhouse.upstream': name }, 'calls');
        if (span === undefined) return await ask(request, signal, undefined, leave);
        return await traced(span, ask(request, signal, span, leave));
      } catch (error) {
        if (!(error instanceof TooManyWaitingError)) throw error;
        asked(request.method, 'busy', 0);
        return BUSY;
      } finally {
        node.inFlight -= 1;
        probe?.leave();
      }
    },
  });
  return node;
}

/** What a budget keeps back. Providers are the operator's affair: clients are told the time alone. */
function keptBack({ code, data }: PackhouseError, retryAfterMs: number | undefined): TryOutcome {
  const detail =
    code === 'BUDGET_EXHAUSTED'
      ? `the budget of a node is used up until ${data.until}`
      : 'the budget of a node cannot be counted now';
  return {
    ...{ kind: 'elsewhere', reason: 'unavailable', detail, unsent: true },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs: Math.ceil(retryAfterMs) }),
  };
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

/**
 * The reasons of the signal if a try ends before its answer. Created once: an error per call costs as much as a small
 * answer. Any other reason means that the client disconnected.
 */

/** The call timed out. */
export const TIMED_OUT = new Error('no node answered in time');

/** Another upstream answered first. */
export const OVERTAKEN = new Error('another node was faster');

/** How long each method usually takes, over all upstreams. */
interface MethodTimes {
  /** Records an answer that took so many milliseconds. */
  answered(method: string, ms: number): void;
  /** Smoothed milliseconds; 0 while unknown. */
  usual(method: string): number;
}

/** More methods than any family has; the time of further ones is not kept. */
const MOST_METHODS = 256;

export function createMethodTimes(): MethodTimes {
  const times = new Map<string, number>();
  return {
    answered(method, ms) {
      const before = times.get(method);
      if (before !== undefined || times.size < MOST_METHODS) times.set(method, smooth(before ?? null, ms));
    },
    usual: (method) => times.get(method) ?? 0,
  };
}
