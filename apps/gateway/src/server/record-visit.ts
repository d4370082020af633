import type { ServerResponse } from 'node:http';
import type { Context, Span } from '@packhouse/runtime';
import { PROBLEM_REASONS } from '../http/problem-reasons.js';
import type { CallNotes, Visit } from './visit.js';
import { createVisitMetrics } from './visit-metrics.js';

/** Writes a finished visit into the log and the metrics; the id is asked for where it is logged. */
export type RecordVisit = (visit: Visit, response: ServerResponse, requestId: () => string) => void;

/** What is logged of requests at level info: all of them, or those that were refused. */
export const LOGGED_REQUESTS = ['all', 'refused'] as const;

export type LoggedRequests = (typeof LOGGED_REQUESTS)[number];

/** Answers that a client earned by going on too fast: not worth a line each at the usual level. */
const TOO_MANY = 429;
/** What machines look at every few seconds. */
const PROBES = new Set(['healthz', 'readyz', 'metrics']);

/**
 * Makes the recorder; one structured line a request: error for our faults, info for refusals and what went well; debug
 * for who goes too fast, probes that went well, and what went well where only refusals are wanted.
 */
export function createVisitRecorder(
  context: Pick<Context, 'logger' | 'metrics'>,
  logged: LoggedRequests = 'all',
): RecordVisit {
  const { logger } = context;
  const count = createVisitMetrics(context.metrics);
  const levelOf = ({ route, refusal }: Visit, status: number): 'error' | 'info' | 'debug' => {
    // A network may answer refusals with 200.
    const meant = refusal === '' ? status : PROBLEM_REASONS[refusal].status;
    if (meant >= 500) return 'error';
    if (meant === TOO_MANY) return 'debug';
    if (meant >= 400 || refusal !== '') return 'info';
    return logged === 'all' && !PROBES.has(route) ? 'info' : 'debug';
  };
  return (visit, response, requestId) => {
    const { route, network, kind, prefix, calls, span } = visit;
    const status = response.statusCode;
    const ms = performance.now() - visit.startedAt;
    const { socket } = response.req;
    // What was still on its way when the connection was cut counts as finished for Node.
    const aborted = !response.writableFinished || (socket.destroyed && !socket.writableEnded);
    const bytes = response.req.method === 'HEAD' ? 0 : visit.bytes;
    count(visit, status, ms / 1_000, aborted ? 0 : bytes);
    if (span !== undefined) endSpan(span, visit, status);
    const level = levelOf(visit, status);
    if (!logger.isLevelEnabled(level)) return;
    logger[level](
      {
        requestId: requestId(),
        method: response.req.method,
        route,
        network,
        kind,
        status,
        bytes,
        ms: Math.round(ms * 100) / 100,
        key: prefix,
        outcome: outcomeOf(visit, status, aborted),
        ...(calls === undefined ? {} : rpcFields(calls)),
        ...(aborted ? { aborted } : {}),
      },
      'request',
    );
  };
}

/** `ok`, `aborted`, the reason of a refusal, or the JSON-RPC codes of calls that failed. */
function outcomeOf({ refusal, calls }: Visit, status: number, aborted: boolean): string {
  if (refusal !== '') return refusal;
  if (calls !== undefined && calls.codes.length > 0) return calls.codes.join(' ');
  if (aborted) return 'aborted';
  return status < 400 ? 'ok' : String(status);
}

function rpcFields({ count, methods, upstreams }: CallNotes): Record<string, unknown> {
  return { calls: count, methods: methods.join(' '), upstream: upstreams.join(' ') };
}

function endSpan(span: Span, visit: Visit, status: number): void {
  const { route, network, prefix, refusal } = visit;
  span.note({
    'http.response.status_code': status,
    'packhouse.route': route,
    ...(network === '' ? {} : { 'packhouse.network': network }),
    ...(prefix === '' ? {} : { 'packhouse.key': prefix }),
  });
  if (status >= 500) span.fail(refusal === '' ? String(status) : refusal);
  span.end();
}
