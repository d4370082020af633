import { ERROR_CATALOGUE, isPackhouseError, type Logger, PackhouseError } from '@packhouse/runtime';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

/** The HTTP status of a code; of others it follows from the exit code. */
const STATUS: Partial<Record<PackhouseError['code'], number>> = {
  SIGN_IN_REQUIRED: 401,
  SIGN_IN_REFUSED: 401,
  OIDC_REFUSED: 401,
  OIDC_NO_ROLE: 403,
  SIGN_IN_LOCKED: 429,
  LISTENERS_FULL: 429,
  KEYS_SPENT: 429,
  API_KEY_REFUSED: 403,
  CSRF_REFUSED: 403,
  ROLE_TOO_LOW: 403,
  HOST_REFUSED: 421,
  CHANGED_MEANWHILE: 409,
};
const NOT_FOUND = /_UNKNOWN$/;
const USAGE_EXIT = 64;
const AWAY_EXIT = 69;

function getStatus({ code }: PackhouseError): number {
  const own = STATUS[code];
  if (own !== undefined) return own;
  if (NOT_FOUND.test(code)) return 404;
  const { exitCode, retryable } = ERROR_CATALOGUE[code];
  if (exitCode === USAGE_EXIT) return 400;
  return exitCode === AWAY_EXIT || retryable ? 503 : 422;
}

/** An error as JSON: message, hint, code, data. Never a stack trace. */
export function describeProblem(error: unknown): Record<string, unknown> {
  if (isPackhouseError(error)) {
    const { code, message, hint, data } = error;
    return { code, message, hint, data };
  }
  return { code: 'INTERNAL', message: 'Internal error of the console: see its log.' };
}

/** The status and body of the response to a failed request; bugs are logged. */
export function toProblem(error: unknown, logger: Logger): { status: number; body: { error: object } } {
  if (isPackhouseError(error)) return { status: getStatus(error), body: { error: describeProblem(error) } };
  const status = (error as FastifyError).statusCode ?? 500;
  if (status < 500) {
    const message = `Invalid request: ${(error as Error).message}.`.replace(/\.\.$/, '.');
    return { status, body: { error: { code: 'INPUT_INVALID', message } } };
  }
  logger.error({ err: error }, 'a request failed');
  return { status: 500, body: { error: describeProblem(error) } };
}

/** Answers with an error as JSON. */
export function sendProblem(reply: FastifyReply, error: unknown, logger: Logger): FastifyReply {
  const { status, body } = toProblem(error, logger);
  const retryAfterMs = isPackhouseError(error) ? error.data.retryAfterMs : undefined;
  if (typeof retryAfterMs === 'number') reply.header('retry-after', Math.ceil(retryAfterMs / 1_000));
  return reply.code(status).send(body);
}

/** The error for an unknown route. */
export function toUnknownPage({ method, url }: FastifyRequest): PackhouseError {
  return new PackhouseError({
    code: 'PAGE_UNKNOWN',
    message: `Unknown route ${method} ${url.split('?')[0]?.slice(0, 200)}.`,
    hint: 'The pages are at /, the API is described at /api/openapi.json.',
  });
}
