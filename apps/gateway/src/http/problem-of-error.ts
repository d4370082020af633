import { isPackhouseError } from '@packhouse/runtime';
import { Problem } from './problem.js';

/** How long a client is asked to wait where something is unavailable, in seconds. */
const RETRY_AFTER_SECONDS = 5;

/** The refusal for whatever a route threw: what is outside and gone is 503, what nobody foresaw is 500 without details. */
export function problemOfError(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isPackhouseError(error, 'DATABASE_UNAVAILABLE')) return unavailable('The database', error);
  if (isPackhouseError(error, 'OBJECT_STORE_UNAVAILABLE')) return unavailable('The object store', error);
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
