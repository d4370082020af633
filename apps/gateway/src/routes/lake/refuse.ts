import type { Admission } from '../../access/admission.js';
import { type Exchange, JSON_TYPE } from '../../http/exchange.js';
import { type MaybePromise, thenSync } from '../../http/maybe-promise.js';
import { type Problem, type ProblemReason, toProblem } from '../../http/problem.js';
import { beginRefusal } from '../../http/refuse.js';

/** Where the catalog and its files are. */
export const ICEBERG = '/iceberg';

/** Names of errors in the Iceberg REST specification, for programs that look at them and not at the status. */
const TYPES: Partial<Record<ProblemReason, string>> = {
  unauthenticated: 'NotAuthorizedException',
  forbidden: 'ForbiddenException',
  'plan-limit': 'ForbiddenException',
  'network-unknown': 'NoSuchNamespaceException',
  'kind-unknown': 'NoSuchTableException',
  'file-unknown': 'NotFoundException',
  'path-unknown': 'NotFoundException',
  'method-not-allowed': 'UnsupportedOperationException',
  unavailable: 'ServiceUnavailableException',
};

/** Names of errors of S3, for the same. */
const S3_CODES: Partial<Record<ProblemReason, string>> = {
  'file-unknown': 'NoSuchKey',
  'kind-unknown': 'NoSuchKey',
  'range-unsatisfiable': 'InvalidRange',
  'rate-limited': 'SlowDown',
  'method-not-allowed': 'MethodNotAllowed',
};

interface RefusalParts {
  admission: Admission;
  logger: { error(facts: object, text: string): void };
}

/** Refuses as the Iceberg REST specification has errors (ErrorModel). */
export function refuseCatalog(
  parts: RefusalParts,
  exchange: Exchange,
  error: unknown,
): MaybePromise<unknown> {
  return refuse(parts, exchange, error, ({ reason, status, message }) => {
    const type = TYPES[reason] ?? (status >= 500 ? 'InternalServerError' : 'BadRequestException');
    exchange.sendText(JSON.stringify({ error: { message, type, code: status } }), JSON_TYPE);
  });
}

/** The same for a file; as S3 has errors if it is read by that protocol. */
export function refuseFile(parts: RefusalParts, exchange: Exchange, error: unknown): MaybePromise<unknown> {
  if (exchange.request.headers['x-amz-security-token'] === undefined)
    return refuseCatalog(parts, exchange, error);
  return refuse(parts, exchange, error, ({ reason, status, message }) => {
    // S3 has no 429: its clients know this code by 503, and try again.
    if (reason === 'rate-limited') exchange.status(503);
    const code = S3_CODES[reason] ?? (status >= 500 ? 'ServiceUnavailable' : 'AccessDenied');
    const text = message.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
    exchange.sendText(
      `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${text}</Message></Error>`,
      'application/xml',
    );
  });
}

function refuse(
  { admission, logger }: RefusalParts,
  exchange: Exchange,
  error: unknown,
  send: (problem: Problem) => void,
): MaybePromise<unknown> {
  const problem = toProblem(error);
  const { status, reason, message } = problem;
  exchange.refusal = reason;
  return thenSync(admission.setRateLimitHeaders(exchange), () => {
    if (status >= 500 && reason !== 'draining') {
      logger.error({ requestId: exchange.id, err: problem.cause ?? problem }, message);
    }
    beginRefusal(exchange, problem);
    send(problem);
  });
}
