import type { Logger } from '@packhouse/runtime';
import type { Exchange } from './exchange.js';
import { type MaybePromise, thenSync } from './maybe-promise.js';
import { type Problem, toProblem } from './problem.js';
import type { Fallback, Route } from './route.js';

/** Refuses a request: by its route, otherwise as `application/problem+json`. Never throws. */
type Refuse = (route: Route | undefined, exchange: Exchange, error: unknown) => void;

export function createRefuse({
  fallback,
  logger,
  beforeRefusal,
}: {
  fallback: Fallback;
  logger: Logger;
  /** Called before a refusal is sent; must not fail. */
  beforeRefusal(exchange: Exchange): MaybePromise<unknown>;
}): Refuse {
  const fail: Refuse = (route, exchange, error) => {
    if (hasLongRest(exchange)) exchange.connection('close');
    try {
      const refused = refuse(route ?? fallback, exchange, error);
      if (refused instanceof Promise) refused.catch((again: unknown) => abortResponse(exchange, again));
    } catch (again) {
      abortResponse(exchange, again);
    }
  };

  const refuse = (
    { refuse: own }: Pick<Route, 'refuse'>,
    exchange: Exchange,
    error: unknown,
  ): MaybePromise<unknown> => {
    if (exchange.response.headersSent) throw error;
    if (own !== undefined) return own(exchange, error);
    const problem = toProblem(error);
    exchange.refusal = problem.reason;
    return thenSync(beforeRefusal(exchange), () => sendProblem(exchange, problem, logger));
  };

  /** Closes the connection, so that the client notices an incomplete answer. */
  const abortResponse = (exchange: Exchange, error: unknown): void => {
    if (!exchange.response.destroyed) {
      logger.error({ requestId: exchange.id, err: error }, 'failed to finish an answer');
    }
    exchange.response.destroy();
  };
  return fail;
}

/**
 * The rest of a refused body is read to its end if it is at most as long; otherwise the connection is closed: to read and
 * drop it costs as much as to open a new one.
 */
const MAX_REST_LENGTH = 65_536;

/** Whether a body may be longer than is read of it in vain. */
function hasLongRest({ request: { headers, complete } }: Exchange): boolean {
  if (complete) return false;
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > MAX_REST_LENGTH;
}

/** Headers that a route may have set for a file before it failed. */
const FILE_HEADERS = ['etag', 'accept-ranges', 'content-length', 'content-range'];

/** Sends a refusal as `application/problem+json`; faults of the gateway are logged with their cause. */
export function sendProblem(exchange: Exchange, problem: Problem, logger: Logger): void {
  // A damaged file is logged once, when it is found.
  const known = problem.reason === 'file-damaged' && problem.cause === undefined;
  if (problem.status >= 500 && problem.reason !== 'draining' && !known) {
    logger.error({ requestId: exchange.id, err: problem.cause ?? problem }, problem.message);
  }
  beginRefusal(exchange, problem).sendText(
    JSON.stringify(problem.toBody(exchange.id)),
    'application/problem+json; charset=utf-8',
  );
}

/** Sets status and headers of a refusal, whose body is sent in the form that its client knows. */
export function beginRefusal(exchange: Exchange, { headers, reason, status }: Problem): Exchange {
  exchange.refusal = reason;
  for (const name of FILE_HEADERS) exchange.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) exchange.header(name, value);
  return exchange.status(status).header('cache-control', 'no-store').header('x-request-id', exchange.id);
}
