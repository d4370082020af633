import type { Logger } from '@packhouse/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemOfError } from '../http/problem-of-error.js';

const FILE_HEADERS = ['etag', 'accept-ranges', 'content-length', 'content-range'];

/** Answers whatever was thrown as `application/problem+json`; our own faults are logged with their cause. */
export function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): FastifyReply {
  const problem = problemOfError(error, request.routeOptions.bodyLimit);
  if (problem.status >= 500 && problem.reason !== 'draining') {
    logger.error({ requestId: request.id, err: problem.cause ?? problem }, problem.message);
  }
  // A request that was refused before it was noted has no visit.
  if (request.visit) request.visit.refusal = problem.reason;
  // A route may have begun to describe a file before it failed.
  for (const name of FILE_HEADERS) reply.removeHeader(name);
  for (const [name, value] of Object.entries(problem.headers)) reply.header(name, value);
  return reply
    .code(problem.status)
    .header('cache-control', 'no-store')
    .header('x-request-id', request.id)
    .type('application/problem+json')
    .send(JSON.stringify(problem.toBody(request.id)));
}
