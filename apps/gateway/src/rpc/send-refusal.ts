import type { Logger } from '@packhouse/runtime';
import type { Problem } from '../http/problem.js';
import { problemOfError } from '../http/problem-of-error.js';
import type { ProblemReason } from '../http/problem-reasons.js';
import { refusalText } from './answer-text.js';

/** How a refusal leaves. */
export interface RefusalOptions {
  logger: Logger;
  /** JSON text of the id it answers. */
  id?: string | undefined;
  /** Network's setting: `always200` for clients that never read the body of another status. */
  httpErrors: 'status' | 'always200';
}

/** What of a reply a refusal uses. */
export interface RefusalReply {
  code(status: number): unknown;
  header(name: string, value: string | number): unknown;
  type(contentType: string): unknown;
  send(body?: Buffer): unknown;
}

/** Answers a refusal of a whole request in the envelope of JSON-RPC. */
export function sendRefusal(
  error: unknown,
  request: {
    readonly id: string;
    readonly visit?: { refusal: ProblemReason | '' } | null;
    readonly routeOptions?: { readonly bodyLimit?: number };
  },
  reply: RefusalReply,
  { logger, id = 'null', httpErrors }: RefusalOptions,
): unknown {
  const problem = problemOfError(error, request.routeOptions?.bodyLimit);
  logInternal(problem, request, logger);
  if (request.visit) request.visit.refusal = problem.reason;
  for (const [name, value] of Object.entries(problem.headers)) reply.header(name, value);
  reply.code(httpErrors === 'always200' ? 200 : problem.status);
  reply.header('cache-control', 'no-store');
  reply.header('x-request-id', request.id);
  reply.type('application/json');
  return reply.send(refusalText(id, problem, request.id));
}

/** Writes a fault of ours into the log, with its cause. */
export function logInternal(problem: Problem, request: { id: string }, logger: Logger): void {
  if (problem.reason !== 'internal') return;
  logger.error({ requestId: request.id, err: problem.cause ?? problem }, problem.message);
}
