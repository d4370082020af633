import { isPackhouseError } from '@packhouse/runtime';
import { Problem } from './problem.js';
import type { ProblemReason } from './problem-reasons.js';

/** How long a client is asked to wait where something is unavailable, in seconds. */
const RETRY_AFTER_SECONDS = 5;

/**
 * The refusal for whatever a route threw: what is outside and gone is 503, what nobody foresaw is 500 without details.
 * `bodyLimit` is how many bytes of body the route takes, where it takes any.
 */
export function problemOfError(error: unknown, bodyLimit?: number): Problem {
  if (error instanceof Problem) return error;
  if (isPackhouseError(error, 'DATABASE_UNAVAILABLE')) return unavailable('The database', error);
  if (isPackhouseError(error, 'OBJECT_STORE_UNAVAILABLE')) return unavailable('The object store', error);
  const reason = REASON_BY_STATUS.get(statusOf(error) ?? 500);
  if (reason === 'body-too-large' && bodyLimit !== undefined) {
    const detail = `A body has ${bodyLimit} bytes at most.`;
    return new Problem(reason, { detail, members: { limit: bodyLimit }, cause: error });
  }
  if (reason !== undefined) {
    return new Problem(reason, { detail: 'The request could not be read.', cause: error });
  }
  return new Problem('internal', {
    detail: 'The gateway failed at this request; the operator finds the cause under the request id.',
    cause: error,
  });
}

function unavailable(what: string, cause: unknown): Problem {
  return new Problem('unavailable', {
    detail: `${what} cannot be reached at the moment; try again in ${RETRY_AFTER_SECONDS} seconds.`,
    members: { retryAfter: RETRY_AFTER_SECONDS, retryAfterMs: RETRY_AFTER_SECONDS * 1_000 },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
    cause,
  });
}

/** Refusals of the HTTP framework itself, by the status it gives them. */
const REASON_BY_STATUS = new Map<number, ProblemReason>([
  [400, 'request-malformed'],
  [404, 'path-unknown'],
  [408, 'request-timeout'],
  [413, 'body-too-large'],
  [414, 'uri-too-long'],
  [415, 'media-type-unsupported'],
]);

function statusOf(error: unknown): number | undefined {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}
