import type { Family, Upstream } from '@packhouse/networks';
import type { CallSignal, Context, Span } from '@packhouse/runtime';
import { Pool } from 'undici';
import { type Circuit, createCircuit } from '../circuit.js';
import { createNodeLabel } from '../node-label.js';
import { createRateWindow } from '../rate-window.js';
import { retryAfterMs } from '../status-fault.js';
import { classifyNodeError } from './classify-node-error.js';
import type { ForwardMetrics } from './forward-metrics.js';
import type { ForwardAnswer, ForwardRequest } from './forwarder.js';
import { postCall } from './post-call.js';
import type { ReadAnswer } from './read-answer.js';

/** What one try gave: an answer for the client, or why another node should be asked. */
export type TryOutcome =
  | Extract<ForwardAnswer, { kind: 'result' | 'error' }>
  | {
      kind: 'elsewhere';
      reason: 'timeout' | 'unavailable' | 'nonsense' | 'too-large';
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
  /** It asked for a pause until then, in the clock's milliseconds. */
  pausedUntil: number;
  /** It is on another chain. */
  excluded: boolean;
  /** Rejects only when the signal is aborted. */
  tryOnce(request: ForwardRequest, signal: CallSignal): Promise<TryOutcome>;
  destroy(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const DEFAULT_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** Opens the connections to one upstream; nothing is asked yet. */
export function createForwardNode(options: {
  upstream: Upstream;
  family: Family;
  context: Context;
  metrics: ForwardMetrics;
}): ForwardNode {
  const { context, family, metrics, upstream } = options;
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

  const pause = (ms: number): void => {
    node.pausedUntil = Math.max(node.pausedUntil, clock.now() + Math.min(ms, LONGEST_PAUSE_MS));
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
      node.latencyMs = node.latencyMs === null ? took : node.latencyMs * 0.9 + took * 0.1;
      const wait = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, clock.now());
      const outcome = judge(request, read, status, wait);
      metrics.asked(
        name,
        request.method,
        outcome.kind === 'elsewhere' ? outcome.reason : outcome.kind,
        performance.now() - startedAt,
      );
      return outcome;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      circuit.failed();
      metrics.asked(name, request.method, 'unavailable', performance.now() - startedAt);
      context.logger.debug({ upstream: name, method: request.method, err: error }, 'node could not be asked');
      const { code = '', sent = false } = error as { code?: string; sent?: boolean };
      const unsent =
        !sent && /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT/.test(code);
      return { kind: 'elsewhere', reason: 'unavailable', detail: 'a node broke off', unsent };
    }
  };

  const judge = (
    request: ForwardRequest,
    read: ReadAnswer,
    status: number,
    wait: number | undefined,
  ): TryOutcome => {
    const elsewhere = (
      reason: 'timeout' | 'unavailable' | 'nonsense' | 'too-large',
      detail: string,
    ): TryOutcome => ({
      kind: 'elsewhere',
      reason,
      detail,
      unsent: false,
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    });
    if (status === 429 || status === 503) pause(wait ?? DEFAULT_PAUSE_MS);
    if (read.kind === 'too-large') {
      return elsewhere('too-large', `the answer is larger than ${request.maxBytes} bytes`);
    }
    if (read.kind === 'result' && status === 200) {
      circuit.succeeded();
      return { kind: 'result', body: read.body, upstream: name };
    }
    if (read.kind !== 'error') {
      circuit.failed();
      if (status !== 200) return elsewhere('unavailable', `a node answered HTTP ${status}`);
      return elsewhere('nonsense', `a node sent ${read.kind === 'nonsense' ? read.what : 'nonsense'}`);
    }
    const parsed = parseError(read.error);
    if (parsed === null) {
      circuit.failed();
      return elsewhere('nonsense', 'a node sent an error that is none');
    }
    const said = { kind: 'error', error: read.error, ...parsed, upstream: name } as const;
    const meaning = classifyNodeError(family, parsed.code, parsed.message);
    if (meaning === 'answer') {
      circuit.succeeded();
      return said;
    }
    if (meaning === 'busy') {
      circuit.failed();
      pause(wait ?? DEFAULT_PAUSE_MS);
    } else circuit.succeeded();
    return {
      kind: 'elsewhere',
      reason: 'unavailable',
      detail: meaning === 'busy' ? 'the nodes ask for fewer requests' : 'no node has it',
      unsent: false,
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
      ...(meaning === 'elsewhere' ? { said } : {}),
    };
  };

  const circuit = createCircuit({
    clock,
    onChange: (open) => {
      if (open) context.logger.warn({ upstream: label.name }, 'node keeps failing: resting it');
      else context.logger.info({ upstream: label.name }, 'node answers again');
      metrics.healthy(name, !open);
    },
  });
  metrics.healthy(name, true);

  const node: ForwardNode = {
    name,
    priority: upstream.priority,
    circuit,
    head: null,
    finalized: null,
    latencyMs: null,
    inFlight: 0,
    pausedUntil: 0,
    excluded: false,
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
    if (outcome.kind === 'elsewhere') span.fail(outcome.reason);
    else if (outcome.kind === 'error') span.note({ 'rpc.response.status_code': String(outcome.code) });
    return outcome;
  } catch (error) {
    span.fail('given up');
    throw error;
  } finally {
    span.end();
  }
}

function parseError(bytes: Buffer): { code: number; message: string } | null {
  try {
    const { code, message } = JSON.parse(bytes.toString('utf8')) as { code?: unknown; message?: unknown };
    if (typeof code !== 'number') return null;
    return { code, message: typeof message === 'string' ? message : '' };
  } catch {
    return null;
  }
}
