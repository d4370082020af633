import type { Context } from '@packhouse/runtime';
import type { FastifyReply } from 'fastify';
import type { Visit } from './visit.js';

/** Writes a finished visit into the log and the metrics. */
export type RecordVisit = (visit: Visit, reply: FastifyReply) => void;

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Answers that a client earned by going on too fast: not worth a line each at the usual level. */
const TOO_MANY = 429;

/** Makes the recorder; one structured line a request: debug for what went well, info for refusals, error for our faults. */
export function createVisitRecorder(context: Pick<Context, 'logger' | 'metrics'>): RecordVisit {
  const { logger, metrics } = context;
  const requests = metrics.counter('packhouse_gateway_requests_total', 'Requests answered.', [
    'route',
    'network',
    'kind',
    'status',
    'key',
  ]);
  const seconds = metrics.histogram(
    'packhouse_gateway_request_seconds',
    'Time from the arrival of a request to the end of its answer.',
    ['route', 'network', 'kind'],
    BUCKETS,
  );
  const sent = metrics.counter('packhouse_gateway_sent_bytes_total', 'Bytes of bodies sent.', [
    'route',
    'network',
    'kind',
  ]);
  return (visit, reply) => {
    const response = reply.raw;
    const { route, network, kind, prefix } = visit;
    const status = response.statusCode;
    const ms = performance.now() - visit.startedAt;
    const aborted = !response.writableFinished;
    const bytes = response.req.method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0);
    requests.inc({ route, network, kind, status, key: prefix });
    seconds.observe({ route, network, kind }, ms / 1_000);
    if (!aborted && bytes > 0) sent.inc({ route, network, kind }, bytes);
    const level = status >= 500 ? 'error' : status >= 400 && status !== TOO_MANY ? 'info' : 'debug';
    if (!logger.isLevelEnabled(level)) return;
    logger[level](
      {
        requestId: reply.request.id,
        method: response.req.method,
        route,
        network,
        kind,
        status,
        bytes,
        ms: Math.round(ms * 100) / 100,
        key: prefix,
        ...(aborted ? { aborted } : {}),
      },
      'request',
    );
  };
}
