import { ERROR_CATALOGUE, isPackhouseError, type Logger, type PackhouseError } from '@packhouse/runtime';
import type { FastifyError, FastifyReply } from 'fastify';

/** The HTTP status of a code; of others it follows from the exit code. */
const STATUS: Partial<Record<PackhouseError['code'], number>> = {
  SIGN_IN_REQUIRED: 401,
  SIGN_IN_REFUSED: 401,
  SIGN_IN_LOCKED: 429,
  CSRF_REFUSED: 403,
  ROLE_TOO_LOW: 403,
  HOST_REFUSED: 421,
  CHANGED_MEANWHILE: 409,
};
const NOT_FOUND = /_UNKNOWN$/;
const USAGE_EXIT = 64;
const AWAY_EXIT = 69;

function statusOf({ code }: PackhouseError): number {
  const own = STATUS[code];
  if (own !== undefined) return own;
  if (NOT_FOUND.test(code)) return 404;
  const { exitCode, retryable } = ERROR_CATALOGUE[code];
  if (exitCode === USAGE_EXIT) return 400;
  return exitCode === AWAY_EXIT || retryable ? 503 : 422;
}

/** An error as JSON: a sentence, a hint, the code, facts. Never a stack trace. */
export function describeProblem(error: unknown): Record<string, unknown> {
  if (isPackhouseError(error)) {
    const { code, message, hint, data } = error;
    return { code, message, hint, data };
  }
  return { code: 'INTERNAL', message: 'The console failed at this request; its log says why.' };
}

/** Answers with an error as JSON. */
export function sendProblem(reply: FastifyReply, error: unknown, logger: Logger): FastifyReply {
  if (isPackhouseError(error)) {
    const { retryAfterMs } = error.data;
    if (typeof retryAfterMs === 'number') reply.header('retry-after', Math.ceil(retryAfterMs / 1_000));
    return reply.code(statusOf(error)).send({ error: describeProblem(error) });
  }
  const status = (error as FastifyError).statusCode ?? 500;
  if (status < 500) {
    const message = `The request cannot be read: ${(error as Error).message}.`.replace(/\.\.$/, '.');
    return reply.code(status).send({ error: { code: 'INPUT_INVALID', message } });
  }
  logger.error({ err: error }, 'a request failed');
  return reply.code(500).send({ error: describeProblem(error) });
}
