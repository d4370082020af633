import { isPackhouseError } from '@packhouse/runtime';

/**
 * Every refusal of the gateway, one row a reason; reasons are never reused. `code` is the code of the same refusal in
 * JSON-RPC; it never repeats the HTTP status.
 */
export const PROBLEM_REASONS = {
  'request-malformed': { status: 400, code: -32600, title: 'The request is malformed' },
  'json-malformed': { status: 400, code: -32700, title: 'The body is not JSON' },
  'block-number-invalid': { status: 400, code: -32602, title: 'The block number is not a decimal integer' },
  'query-invalid': { status: 400, code: -32602, title: 'A query parameter is invalid' },
  'parameter-invalid': { status: 400, code: -32602, title: 'A parameter is invalid' },
  'cursor-invalid': { status: 400, code: -32602, title: 'The cursor is invalid' },
  'cursor-foreign': {
    status: 400,
    code: -32602,
    title: 'The cursor belongs to another network, kinds or installation',
  },
  unauthenticated: { status: 401, code: -32001, title: 'A valid API key is required' },
  forbidden: { status: 403, code: -32001, title: 'The API key is not allowed to do this' },
  'plan-limit': { status: 403, code: -32005, title: 'The plan does not include this block' },
  'path-unknown': { status: 404, code: -32001, title: 'Nothing is served at this address' },
  'network-unknown': { status: 404, code: -32001, title: 'Unknown network' },
  'network-without-bundles': { status: 404, code: -32004, title: 'This network has no bundles' },
  'network-without-nft': { status: 404, code: -32004, title: 'This network has no tokens to refresh' },
  'job-unknown': { status: 404, code: -32001, title: 'Unknown job' },
  'kind-unknown': { status: 404, code: -32602, title: 'Unknown kind of data' },
  'kind-not-enabled': {
    status: 404,
    code: -32004,
    title: 'This kind of data is not enabled on this network',
  },
  'not-produced': { status: 404, code: -32001, title: 'The block does not exist yet' },
  'not-covered': { status: 404, code: -32001, title: 'The block is not covered' },
  'file-unknown': { status: 404, code: -32001, title: 'Unknown file' },
  'method-not-allowed': { status: 405, code: -32600, title: 'This address does not support this method' },
  'request-timeout': { status: 408, code: -32600, title: 'The request took too long to arrive' },
  reorganised: { status: 410, code: -32001, title: 'The block was removed by a reorganisation' },
  'precondition-failed': { status: 412, code: -32600, title: 'The file does not match If-Match' },
  'body-too-large': { status: 413, code: -32005, title: 'The body is too large' },
  'batch-too-large': { status: 413, code: -32005, title: 'The batch has too many calls' },
  'uri-too-long': { status: 414, code: -32600, title: 'The address is too long' },
  'media-type-unsupported': { status: 415, code: -32600, title: 'The content type is not supported' },
  'range-unsatisfiable': { status: 416, code: -32602, title: 'The byte range is outside the file' },
  'host-unknown': {
    status: 421,
    code: -32600,
    title: 'The gateway has no address for clients that use this host',
  },
  'upgrade-required': { status: 426, code: -32600, title: 'WebSocket is not supported' },
  'rate-limited': { status: 429, code: -32005, title: 'Too many requests' },
  'quota-exhausted': { status: 429, code: -32005, title: 'The quota is used up' },
  'too-many-jobs': { status: 429, code: -32005, title: 'The application has too many jobs' },
  'headers-too-large': { status: 431, code: -32600, title: 'The request headers are too large' },
  'method-unknown': { status: 200, code: -32601, title: 'Unknown method' },
  'method-unsupported': { status: 200, code: -32004, title: 'This network does not support this method' },
  'params-invalid': { status: 200, code: -32602, title: 'The parameters are invalid' },
  'filter-unknown': { status: 200, code: -32000, title: 'filter not found' },
  'filter-lost': {
    status: 200,
    code: -32000,
    title: 'The filter can no longer report what a reorganisation changed',
  },
  'too-many-filters': { status: 200, code: -32005, title: 'Too many filters' },
  'too-many-logs': { status: 200, code: -32005, title: 'The answer has too many logs' },
  'log-range-too-wide': { status: 200, code: -32005, title: 'The range has too many blocks for this key' },
  'answer-too-large': { status: 200, code: -32005, title: 'The answer is too large' },
  internal: { status: 500, code: -32603, title: 'The gateway failed' },
  'upstream-nonsense': { status: 502, code: -32603, title: 'The nodes sent invalid responses' },
  'upstream-unavailable': { status: 503, code: -32002, title: 'No node is available' },
  'nodes-busy': { status: 503, code: -32005, title: 'Too many calls of this client are waiting for a node' },
  'upstream-timeout': { status: 504, code: -32002, title: 'No node answered in time' },
  unavailable: { status: 503, code: -32002, title: 'A service that the gateway needs is unavailable' },
  'file-damaged': { status: 503, code: -32002, title: 'The stored file is damaged' },
  'manifest-damaged': { status: 503, code: -32002, title: 'The stored manifest is damaged' },
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
  /** Seconds to wait before trying again; sets the members and the header. */
  retryAfter?: number;
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
    const { members, headers, retryAfter } = options;
    this.members =
      retryAfter === undefined
        ? (members ?? {})
        : { ...members, retryAfter, retryAfterMs: retryAfter * 1_000 };
    this.headers =
      retryAfter === undefined ? (headers ?? {}) : { ...headers, 'retry-after': String(retryAfter) };
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

/** How long a client is asked to wait if a service is unavailable, and for an operator, in seconds. */
const RETRY_AFTER_SECONDS = 5;
const REPAIR_SECONDS = 60;

/** An object that is not what its row says. */
const DAMAGE = ['OBJECT_MISSING', 'OBJECT_MISMATCH', 'BUNDLE_INVALID'] as const;

/**
 * The refusal for an error of a route: 503 if a store is unavailable or full, or an object damaged; 500 without details
 * if it was unexpected.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isPackhouseError(error, 'DATABASE_UNAVAILABLE')) {
    return unavailable('The database is unavailable', RETRY_AFTER_SECONDS, error);
  }
  if (isPackhouseError(error, 'OBJECT_STORE_UNAVAILABLE')) {
    return unavailable('The object store is unavailable', RETRY_AFTER_SECONDS, error);
  }
  // Only an operator can correct it, and readyz says what it is.
  if (isPackhouseError(error, 'OBJECT_STORE_INVALID')) {
    return unavailable('The object store is unavailable', REPAIR_SECONDS, error);
  }
  if (isPackhouseError(error, 'DISK_FULL')) {
    return new Problem('disk-full', {
      retryAfter: REPAIR_SECONDS,
      detail: `A disk of the service is full; try again in ${REPAIR_SECONDS} seconds.`,
      cause: error,
    });
  }
  if (DAMAGE.some((code) => isPackhouseError(error, code))) return fileDamaged(error);
  return new Problem('internal', {
    detail: 'The gateway failed to answer this request; its log has the cause under this request id.',
    cause: error,
  });
}

/** The refusal of a file whose object is not what was published. */
export function fileDamaged(cause?: unknown): Problem {
  return new Problem('file-damaged', {
    retryAfter: REPAIR_SECONDS,
    detail: `The stored file is damaged or missing and is not sent until it is repaired; the operator is alerted. Try again in ${REPAIR_SECONDS} seconds.`,
    cause,
  });
}

/** The refusal while something cannot be had; `what` is a sentence about it, without its end. */
export function unavailable(what: string, retryAfter = 1, cause?: unknown): Problem {
  const seconds = retryAfter === 1 ? 'second' : 'seconds';
  return new Problem('unavailable', {
    retryAfter,
    detail: `${what}; try again in ${retryAfter} ${seconds}.`,
    cause,
  });
}
