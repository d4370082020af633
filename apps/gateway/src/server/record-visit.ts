import type { ServerResponse } from 'node:http';
import type { Context } from '@packhouse/runtime';
import type { Visit } from './visit.js';
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
    const { route, network, kind, prefix } = visit;
    const status = response.statusCode;
    const ms = performance.now() - visit.startedAt;
    const aborted = !response.writableFinished;
    const bytes = response.req.method === 'HEAD' ? 0 : visit.bytes;
    count(visit, status, ms / 1_000, aborted ? 0 : bytes);
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
        ...(aborted ? { aborted } : {}),
      },
      'request',
    );
  };
}
