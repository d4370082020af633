import type { Admission } from '../../access/admission.js';
import { type Exchange, JSON_TYPE } from '../../http/exchange.js';
import { type MaybePromise, thenSync } from '../../http/maybe-promise.js';
import { type Problem, type ProblemReason, toProblem } from '../../http/problem.js';

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

/** Refuses as the Iceberg REST specification has errors (ErrorModel). */
export function refuseCatalog(
  { admission, logger }: { admission: Admission; logger: { error(facts: object, text: string): void } },
  exchange: Exchange,
  error: unknown,
): MaybePromise<unknown> {
  const problem = toProblem(error);
  exchange.refusal = problem.reason;
  return thenSync(admission.setRateLimitHeaders(exchange), () => send(exchange, problem, logger));
}

function send(
  exchange: Exchange,
  problem: Problem,
  logger: { error(facts: object, text: string): void },
): void {
  const { status, reason, message } = problem;
  if (status >= 500 && reason !== 'draining') {
    logger.error({ requestId: exchange.id, err: problem.cause ?? problem }, message);
  }
  for (const name of ['etag', 'accept-ranges', 'content-length', 'content-range'])
    exchange.removeHeader(name);
  for (const [name, value] of Object.entries(problem.headers)) exchange.header(name, value);
  const type = TYPES[reason] ?? (status >= 500 ? 'InternalServerError' : 'BadRequestException');
  exchange
    .status(status)
    .header('cache-control', 'no-store')
    .header('x-request-id', exchange.id)
    .sendText(JSON.stringify({ error: { message, type, code: status } }), JSON_TYPE);
}
