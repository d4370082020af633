import type { Logger } from '@packhouse/runtime';
import type { Exchange } from '../http/exchange.js';
import type { Problem } from '../http/problem.js';
import { problemOfError } from '../http/problem-of-error.js';
import { refusalText } from './answer-text.js';

/** How a refusal leaves. */
export interface RefusalOptions {
  logger: Logger;
  /** JSON text of the id it answers. */
  id?: string | undefined;
  /** Network's setting: `always200` for clients that never read the body of another status. */
  httpErrors: 'status' | 'always200';
}

/** Answers a refusal of a whole request in the envelope of JSON-RPC. */
export function sendRefusal(
  exchange: Exchange,
  error: unknown,
  { logger, id = 'null', httpErrors }: RefusalOptions,
): void {
  const problem = problemOfError(error);
  logInternal(problem, exchange, logger);
  exchange.refusal = problem.reason;
  for (const [name, value] of Object.entries(problem.headers)) exchange.header(name, value);
  exchange
    .status(httpErrors === 'always200' ? 200 : problem.status)
    .header('cache-control', 'no-store')
    .header('x-request-id', exchange.id)
    .header('content-type', 'application/json')
    .sendBuffer(refusalText(id, problem, exchange.id));
}

/** Writes a fault of ours into the log, with its cause. */
export function logInternal(problem: Problem, request: { id: string }, logger: Logger): void {
  if (problem.reason !== 'internal') return;
  logger.error({ requestId: request.id, err: problem.cause ?? problem }, problem.message);
}
