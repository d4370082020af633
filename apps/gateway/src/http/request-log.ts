import type { Context, Span } from '@packhouse/runtime';
import type { CallNotes, Exchange } from './exchange.js';
import { PROBLEM_REASONS } from './problem.js';
import { createRequestMetrics } from './request-metrics.js';

/** The requests that are logged at level info: all, or only refused ones. */
export const LOGGED_REQUESTS = ['all', 'refused'] as const;

type LoggedRequests = (typeof LOGGED_REQUESTS)[number];

/** Status for clients that send too fast: not worth a line each at the usual level. */
const TOO_MANY = 429;
/** Routes that machines poll every few seconds. */
const PROBES = new Set(['healthz', 'readyz', 'metrics']);

/**
 * Returns a function that records a finished exchange in the metrics and as one line of the log. Its level is `error`
 * for faults of the gateway, `debug` for 429, successful probes, and every success if only refusals are logged; else
 * `info`.
 */
export function createRequestLog(
  context: Pick<Context, 'logger' | 'metrics'>,
  logged: LoggedRequests = 'all',
): (exchange: Exchange) => void {
  const { logger } = context;
  const count = createRequestMetrics(context.metrics);
  const getLevel = ({ route, refusal }: Exchange, status: number): 'error' | 'info' | 'debug' => {
    // Refusals may be sent with status 200 (`httpErrors: always200`).
    const meant = refusal === '' ? status : PROBLEM_REASONS[refusal].status;
    if (meant >= 500) return 'error';
    if (meant === TOO_MANY) return 'debug';
    if (meant >= 400 || refusal !== '') return 'info';
    return logged === 'all' && !PROBES.has(route) ? 'info' : 'debug';
  };
  return (exchange) => {
    const { request, response, route, network, kind, prefix, calls, span, failure } = exchange;
    const status = response.statusCode;
    const ms = performance.now() - exchange.startedAt;
    const aborted = isAborted(exchange);
    const bytes = request.method === 'HEAD' ? 0 : exchange.bytes;
    count(exchange, status, ms / 1_000, aborted || failure !== undefined ? 0 : bytes);
    if (span !== undefined) endSpan(span, exchange, status);
    const level = getLevel(exchange, status);
    if (!logger.isLevelEnabled(level)) return;
    logger[level](
      {
        requestId: exchange.id,
        method: request.method,
        route,
        network,
        kind,
        status,
        bytes,
        ms: Math.round(ms * 100) / 100,
        key: prefix,
        outcome: toOutcome(exchange, status, aborted),
        ...(calls === undefined ? {} : rpcFields(calls)),
        ...(aborted ? { aborted } : {}),
        ...(failure === undefined ? {} : { err: failure }),
      },
      'request',
    );
  };
}

/** Whether the client went away before it had the answer. */
export function isAborted({ request: { socket }, response, failure }: Exchange): boolean {
  if (failure !== undefined) return false;
  // Node counts an answer as finished even if the connection was cut while it was being sent.
  return !response.writableFinished || (socket.destroyed && !socket.writableEnded);
}

/** `ok`, `aborted`, the reason of a refusal or of a body that failed, or the JSON-RPC codes of calls that failed. */
export function toOutcome({ refusal, calls }: Exchange, status: number, aborted: boolean): string {
  if (refusal !== '') return refusal;
  if (calls !== undefined && calls.codes.length > 0) return calls.codes.join(' ');
  if (aborted) return 'aborted';
  return status < 400 ? 'ok' : String(status);
}

function rpcFields({ count, methods, upstreams }: CallNotes): Record<string, unknown> {
  return { calls: count, methods: methods.join(' '), upstream: upstreams.join(' ') };
}

function endSpan(span: Span, exchange: Exchange, status: number): void {
  const { route, network, prefix, refusal, failure } = exchange;
  span.note({
    'http.response.status_code': status,
    'packhouse.route': route,
    ...(network === '' ? {} : { 'packhouse.network': network }),
    ...(prefix === '' ? {} : { 'packhouse.key': prefix }),
  });
  if (status >= 500 || failure !== undefined) span.fail(refusal === '' ? String(status) : refusal);
  span.end();
}
