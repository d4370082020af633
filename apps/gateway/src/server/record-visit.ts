import type { ServerResponse } from 'node:http';
import type { Context, Span } from '@packhouse/runtime';
import type { CallNotes, Visit } from './visit.js';
import { createVisitMetrics } from './visit-metrics.js';

/** Writes a finished visit into the log and the metrics; the id is asked for where it is logged. */
export type RecordVisit = (visit: Visit, response: ServerResponse, requestId: () => string) => void;

/** Answers that a client earned by going on too fast: not worth a line each at the usual level. */
const TOO_MANY = 429;

/** Makes the recorder; one structured line a request: debug for what went well, info for refusals, error for our faults. */
export function createVisitRecorder(context: Pick<Context, 'logger' | 'metrics'>): RecordVisit {
  const { logger } = context;
  const count = createVisitMetrics(context.metrics);
  return (visit, response, requestId) => {
    const { route, network, kind, prefix, calls, span } = visit;
    const status = response.statusCode;
    const ms = performance.now() - visit.startedAt;
    const aborted = !response.writableFinished;
    const bytes = response.req.method === 'HEAD' ? 0 : visit.bytes;
    count(visit, status, ms / 1_000, aborted ? 0 : bytes);
    if (span !== undefined) endSpan(span, visit, status);
    const level = status >= 500 ? 'error' : status >= 400 && status !== TOO_MANY ? 'info' : 'debug';
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
