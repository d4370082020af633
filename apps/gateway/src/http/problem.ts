import { isPackhouseError } from '@packhouse/runtime';

/**
 * Every refusal of the gateway, one row a reason; reasons are never reused. `code` is the code of the same refusal in
 * JSON-RPC; it never repeats the HTTP status.
 */
export const PROBLEM_REASONS = {
  'request-malformed': { status: 400, code: -32600, title: 'The request is malformed' },
  'json-malformed': { status: 400, code: -32700, title: 'The body is not JSON' },
  'block-number-invalid': { status: 400, code: -32602, title: 'The block number is not a decimal integer' },
  'query-invalid': { status: 400, code: -32602, title: 'A query parameter is not valid' },
  'parameter-invalid': { status: 400, code: -32602, title: 'A parameter of the query is wrong' },
  'cursor-invalid': { status: 400, code: -32602, title: 'The cursor does not fit' },
  unauthenticated: { status: 401, code: -32001, title: 'A valid API key is required' },
  forbidden: { status: 403, code: -32001, title: 'The API key may not do this' },
  'plan-limit': { status: 403, code: -32005, title: 'The plan does not include this block' },
  'path-unknown': { status: 404, code: -32001, title: 'There is nothing at this address' },
  'network-unknown': { status: 404, code: -32001, title: 'There is no such network' },
  'network-without-bundles': { status: 404, code: -32004, title: 'This network has no bundles' },
  'network-without-nft': { status: 404, code: -32004, title: 'This network has no tokens to refresh' },
  'job-unknown': { status: 404, code: -32001, title: 'There is no such job' },
  'kind-unknown': { status: 404, code: -32602, title: 'There is no such kind of data' },
  'kind-not-enabled': { status: 404, code: -32004, title: 'This network does not have this kind of data' },
  'beyond-head': { status: 404, code: -32001, title: 'The block does not exist yet' },
  'not-covered': { status: 404, code: -32001, title: 'The block is not covered' },
  'file-unknown': { status: 404, code: -32001, title: 'There is no such file' },
  'method-not-allowed': { status: 405, code: -32600, title: 'This address does not take this method' },
  'request-timeout': { status: 408, code: -32600, title: 'The request took too long to arrive' },
  reorganised: { status: 410, code: -32001, title: 'The block was reorganised away' },
  'precondition-failed': { status: 412, code: -32600, title: 'The file is another one than was asked for' },
  'body-too-large': { status: 413, code: -32005, title: 'The body is too large' },
  'batch-too-large': { status: 413, code: -32005, title: 'The batch has too many calls' },
  'uri-too-long': { status: 414, code: -32600, title: 'The address is too long' },
  'media-type-unsupported': { status: 415, code: -32600, title: 'The content type is not supported' },
  'range-unsatisfiable': { status: 416, code: -32602, title: 'The byte range lies outside of the file' },
  'rate-limited': { status: 429, code: -32005, title: 'Too many requests' },
  'quota-exhausted': { status: 429, code: -32005, title: 'The quota is used up' },
  'too-many-jobs': { status: 429, code: -32005, title: 'The application has too many jobs' },
  'headers-too-large': { status: 431, code: -32600, title: 'The request headers are too large' },
  'method-unknown': { status: 200, code: -32601, title: 'There is no such method' },
  'method-unsupported': { status: 200, code: -32004, title: 'This network does not have this method' },
  'params-invalid': { status: 200, code: -32602, title: 'The parameters are wrong' },
  'filter-unknown': { status: 200, code: -32000, title: 'filter not found' },
  'filter-lost': { status: 200, code: -32000, title: 'The filter cannot tell what a reorganisation changed' },
  'too-many-filters': { status: 200, code: -32005, title: 'There are too many filters' },
  'too-many-logs': { status: 200, code: -32005, title: 'The answer would hold too many logs' },
  'answer-too-large': { status: 200, code: -32005, title: 'The answer is too large' },
  internal: { status: 500, code: -32603, title: 'The gateway failed' },
  'upstream-nonsense': { status: 502, code: -32603, title: 'The nodes do not speak JSON-RPC' },
  'upstream-unavailable': { status: 503, code: -32002, title: 'No node can be asked' },
  'nodes-busy': { status: 503, code: -32005, title: 'Too many calls of this client wait for a node' },
  'upstream-timeout': { status: 504, code: -32002, title: 'No node answered in time' },
  unavailable: { status: 503, code: -32002, title: 'Something the gateway needs is unavailable' },
  'file-damaged': { status: 503, code: -32002, title: 'The file is damaged in the store' },
  'disk-full': { status: 503, code: -32002, title: 'A disk of the service is full' },
  draining: { status: 503, code: -32002, title: 'The gateway is shutting down' },
} as const satisfies Record<string, { status: number; code: number; title: string }>;

/** Why a request was refused. */
export type ProblemReason = keyof typeof PROBLEM_REASONS;

interface ProblemOptions {
  /** One sentence for people. It never has a key, nor text of the request that could hold one. */
  detail: string;
  /** Facts for programs, added to the standard members of the body. */
  members?: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** A refusal, thrown anywhere behind a route and answered as `application/problem+json` (RFC 9457). */
export class Problem extends Error {
  readonly reason: ProblemReason;
  readonly status: number;
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: ProblemReason, options: ProblemOptions) {
    super(options.detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'Problem';
    this.reason = reason;
    this.status = PROBLEM_REASONS[reason].status;
    this.members = options.members ?? {};
    this.headers = options.headers ?? {};
  }

  toBody(requestId: string): Record<string, unknown> {
    const { status, code, title } = PROBLEM_REASONS[this.reason];
    return {
      type: `urn:packhouse:problem:${this.reason}`,
      title,
      status,
      detail: this.message,
      reason: this.reason,
      code,
      requestId,
      ...this.members,
    };
  }
}

/** How long a client is asked to wait if something is unavailable, in seconds. */
const RETRY_AFTER_SECONDS = 5;

/** How long to wait for an operator, in seconds. */
const REPAIR_SECONDS = 60;

/** An object that is not what its row says. */
const DAMAGE = ['OBJECT_MISSING', 'OBJECT_MISMATCH', 'BUNDLE_INVALID'] as const;

/**
 * The refusal for an error of a route: 503 if a store is unavailable or full, or an object damaged; 500 without details
 * if it was unexpected.
 */
export function problemOfError(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isPackhouseError(error, 'DATABASE_UNAVAILABLE')) return unavailable('The database', error);
  if (isPackhouseError(error, 'OBJECT_STORE_UNAVAILABLE')) return unavailable('The object store', error);
  if (isPackhouseError(error, 'DISK_FULL')) return diskFull(error);
  if (DAMAGE.some((code) => isPackhouseError(error, code))) return fileDamaged(error);
  return new Problem('internal', {
    detail: 'The gateway failed at this request; the operator finds the cause under the request id.',
    cause: error,
  });
}

/** The refusal of a file whose object is not what was published. */
export function fileDamaged(cause?: unknown): Problem {
  return laterBy(REPAIR_SECONDS, 'file-damaged', {
    detail: `The file is damaged or missing in the store, and is not sent before it is repaired; the operator is told. Try again in ${REPAIR_SECONDS} seconds.`,
    cause,
  });
}

function diskFull(cause: unknown): Problem {
  return laterBy(REPAIR_SECONDS, 'disk-full', {
    detail: `The service has no space left on a disk that this needs; try again in ${REPAIR_SECONDS} seconds.`,
    cause,
  });
}

function laterBy(seconds: number, reason: ProblemReason, options: ProblemOptions): Problem {
  return new Problem(reason, {
    ...options,
    members: { retryAfter: seconds, retryAfterMs: seconds * 1_000 },
    headers: { 'retry-after': String(seconds) },
  });
}

function unavailable(what: string, cause: unknown): Problem {
  return laterBy(RETRY_AFTER_SECONDS, 'unavailable', {
    detail: `${what} cannot be reached at the moment; try again in ${RETRY_AFTER_SECONDS} seconds.`,
    cause,
  });
}
