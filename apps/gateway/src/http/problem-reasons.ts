/**
 * Every refusal of the gateway: one row a reason, never reused. `code` is the JSON-RPC code of the same refusal,
 * so that both halves of the gateway speak of it alike; it never repeats the HTTP number.
 */
export const PROBLEM_REASONS = {
  'request-malformed': { status: 400, code: -32600, title: 'The request is malformed' },
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
  'uri-too-long': { status: 414, code: -32600, title: 'The address is too long' },
  'media-type-unsupported': { status: 415, code: -32600, title: 'The content type is not supported' },
  'range-unsatisfiable': { status: 416, code: -32602, title: 'The byte range lies outside of the file' },
  'rate-limited': { status: 429, code: -32005, title: 'Too many requests' },
  'quota-exhausted': { status: 429, code: -32005, title: 'The daily quota is used up' },
  'headers-too-large': { status: 431, code: -32600, title: 'The request headers are too large' },
  internal: { status: 500, code: -32603, title: 'The gateway failed' },
  unavailable: { status: 503, code: -32002, title: 'Something the gateway needs is unavailable' },
  draining: { status: 503, code: -32002, title: 'The gateway is shutting down' },
} as const satisfies Record<string, { status: number; code: number; title: string }>;

/** Why a request was refused. */
export type ProblemReason = keyof typeof PROBLEM_REASONS;
