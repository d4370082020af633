import type { Family, Upstream } from '@packhouse/networks';
import type { CallSignal, Context, Span } from '@packhouse/runtime';
import { Pool } from 'undici';
import { type Circuit, createCircuit } from '../circuit.js';
import { createNodeLabel } from '../node-label.js';
import { createRateWindow } from '../rate-window.js';
import { createPause, type Pause } from '../upstream/pause.js';
import { judgeSocket, retryAfterMs } from '../upstream/verdict.js';
import type { ForwardMetrics } from './forward-metrics.js';
import type { ForwardAnswer, ForwardRequest } from './forwarder.js';
import { OVERTAKEN, TIMED_OUT } from './given-up.js';
import { createJudge } from './judge-answer.js';
import type { MethodTimes } from './method-times.js';
import { postCall } from './post-call.js';

/** What one try gave: an answer for the client, or why another node should be asked. */
export type TryOutcome =
  | Extract<ForwardAnswer, { kind: 'result' | 'error' }>
  /** Larger than the call may have, as it would be from every node. */
  | { kind: 'failed'; reason: 'too-large'; detail: string }
  | {
      kind: 'elsewhere';
      reason: 'unavailable' | 'nonsense';
      detail: string;
      retryAfterMs?: number;
      /** The node's own words: what the client gets where no other node can do better. */
      said?: Extract<ForwardAnswer, { kind: 'error' }>;
      /** The request surely did not reach the node: it may be sent again, whatever it is. */
      unsent: boolean;
    };

/** One upstream and what is known of it. */
export interface ForwardNode {
  readonly name: string;
  readonly priority: number;
  readonly circuit: Circuit;
  head: number | null;
  finalized: number | null;
  /** Smoothed time to the first byte, in milliseconds; null while unknown. */
  latencyMs: number | null;
  inFlight: number;
  readonly pause: Pause;
  /** It is on another chain: see `exclude`. */
  readonly excluded: boolean;
  /** When it last told its chain, or that it cannot, in the clock's milliseconds; null: since it was gone it has not. */
  identifiedAt: number | null;
  /** It turns out to be on another chain, or not to be any more: what it said until now does not count. */
  exclude(excluded: boolean): void;
  /** Rejects only when the signal is aborted. */
  tryOnce(request: ForwardRequest, signal: CallSignal): Promise<TryOutcome>;
  destroy(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Opens the connections to one upstream; nothing is asked yet. */
export function createForwardNode(options: {
  upstream: Upstream;
  family: Family;
  context: Context;
  metrics: ForwardMetrics;
  times: MethodTimes;
}): ForwardNode {
  const { context, family, metrics, times, upstream } = options;
  const { clock } = context;
  const { name } = upstream;
  const label = createNodeLabel(upstream);
  const url = new URL(upstream.url);
  const pool = new Pool(url.origin, {
    connections: upstream.maxInFlight,
    pipelining: 1,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    // Every try has a signal that ends it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const path = `${url.pathname}${url.search}`;
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' };
  if (url.username !== '' || url.password !== '') {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  for (const [header, value] of Object.entries(upstream.headers)) headers[header.toLowerCase()] = value;
  const rate =
    upstream.requestsPerSecond === undefined
      ? undefined
      : createRateWindow({ perSecond: upstream.requestsPerSecond, clock });

  /** Notes what a try says of the node that was ended before its answer came. */
  const givenUp = (request: ForwardRequest, reason: unknown, ms: number): void => {
    if (reason === OVERTAKEN) {
      // It would have taken longer still.
      if (ms > (node.latencyMs ?? 0)) smooth(ms);
      // The one try of a node that rests has to succeed, or every call would wait for it first.
      if (circuit.state !== 'closed') failed('slower than another node');
    } else if (reason === TIMED_OUT) {
      metrics.asked(name, request.method, 'timeout', ms);
      // Who was asked near the end only had no fair chance.
      if (2 * ms >= request.timeoutMs) failed('no answer in time');
    }
  };

  const ask = async (
    request: ForwardRequest,
    signal: CallSignal,
    span: Span | undefined,
  ): Promise<TryOutcome> => {
    if (rate !== undefined) await rate.take(1, signal);
    const startedAt = performance.now();
    try {
      const { status, retryAfter, headAt, read } = await postCall(
        pool,
        {
          path,
          headers:
            span !== undefined && upstream.propagateTrace === true
              ? { ...headers, traceparent: span.traceparent }
              : headers,
          body: `{"jsonrpc":"2.0","id":1,"method":"${request.method}","params":${request.params}}`,
          maxBytes: request.maxBytes,
          whole: request.whole ?? false,
        },
        signal,
      );
      const took = headAt - startedAt;
      smooth(took);
      const wait = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, clock.now());
      const outcome = judge(request, read, status, wait, startedAt);
      if (outcome.kind !== 'elsewhere') times.answered(request.method, took);
      metrics.asked(
        name,
        request.method,
        'reason' in outcome ? outcome.reason : outcome.kind,
        performance.now() - startedAt,
      );
      return outcome;
    } catch (error) {
      const ms = performance.now() - startedAt;
      if (signal.aborted) {
        givenUp(request, signal.reason, ms);
        throw signal.reason;
      }
      failed('no connection, or one that broke');
      metrics.asked(name, request.method, 'unavailable', ms);
      context.logger.debug({ upstream: name, method: request.method, err: error }, 'node could not be asked');
      const unsent = (error as { sent?: boolean }).sent !== true && judgeSocket(error).unsent;
      return { kind: 'elsewhere', reason: 'unavailable', detail: 'a node broke off', unsent };
    }
  };

  const circuit = createCircuit({
    clock,
    onChange: (open) => {
      // What comes back may be another node.
      if (open) node.identifiedAt = null;
      if (open) context.logger.warn({ upstream: label.name, because }, 'node keeps failing: resting it');
      else context.logger.info({ upstream: label.name }, 'node answers again');
      metrics.healthy(name, !open && !node.excluded);
    },
  });
  const pause = createPause(clock);
  let because = '';
  const failed = (why: string): void => {
    because = why;
    circuit.failed();
  };
  const judge = createJudge({
    family,
    name,
    health: {
      succeeded: circuit.succeeded,
      failed,
      pause: pause.ask,
      recovered: pause.over,
    },
  });
  const smooth = (ms: number): void => {
    node.latencyMs = node.latencyMs === null ? ms : node.latencyMs * 0.8 + ms * 0.2;
  };
  let excluded = false;
  metrics.healthy(name, true);

  const node: ForwardNode = {
    name,
    priority: upstream.priority,
    circuit,
    head: null,
    finalized: null,
    latencyMs: null,
    inFlight: 0,
    pause,
    get excluded() {
      return excluded;
    },
    identifiedAt: null,
    exclude(yes) {
      excluded = yes;
      node.head = null;
      node.finalized = null;
      metrics.healthy(name, !yes && circuit.state === 'closed');
    },
    async tryOnce(request, signal) {
      const probe = circuit.enter();
      node.inFlight += 1;
      try {
        const span = request.span?.child(request.method, { 'packhouse.upstream': name }, 'calls');
        if (span === undefined) return await ask(request, signal, undefined);
        return await traced(span, ask(request, signal, span));
      } finally {
        node.inFlight -= 1;
        probe.leave();
      }
    },
    destroy: () => pool.destroy(),
  };
  return node;
}

/** Ends the span of a try: with an answer, with why another node has to be asked, or given up. */
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
