import { type ErrorCode, getCertificateHint, PackhouseError } from '@packhouse/runtime';
import type { HttpAnswer } from './http.js';
import type { NodeLabel } from './label.js';
import type { Meaning, Verdict } from './meanings.js';
import { judgeError, judgeSocket, judgeStatus, mayPause, parseRetryAfter } from './verdict.js';

/**
 * The remedy for a fault: `here` the same upstream again after a pause, `elsewhere` another upstream, `shrink` fewer
 * calls in a request, `give-up` none: the answer itself is the problem.
 */
type FaultAction = 'here' | 'elsewhere' | 'shrink' | 'give-up';

/** A call that was not answered: never thrown inside this package, always returned as a value. */
export interface Fault {
  error: PackhouseError;
  /** The event, as the middle of the error's sentence. */
  happened: string;
  action: FaultAction;
  /** The upstream itself fails, not only this call. */
  weighs: boolean;
  /** The parameters were refused: another form of the method may work. */
  refusesParams: boolean;
  /** How long the upstream is not asked if it does not set a time itself, in milliseconds. */
  pauseMs: number;
  /** The wait that the upstream asked for, in milliseconds. */
  retryAfterMs?: number;
}

/** Whether a value that may be a fault is one. */
export function isFault<T extends object>(value: T | Fault): value is Fault {
  return 'action' in value && 'happened' in value;
}

/** The request, for the error's sentence. */
export interface Asked {
  label: NodeLabel;
  /** `eth_getBlockByNumber for block 17`, `a batch of 16 trace_block for blocks 1 to 16`. */
  what: string;
  block?: number | undefined;
}

interface FaultParts {
  hint?: string | undefined;
  cause?: unknown;
  weighs?: boolean;
  refusesParams?: boolean;
  pauseMs?: number;
  retryAfterMs?: number | undefined;
  data?: Record<string, unknown>;
}

/** Makes a fault; `what happened` completes the sentence "Node main (https://host) …". */
export function makeFault(
  asked: Asked,
  code: ErrorCode,
  happened: string,
  action: FaultAction,
  more: FaultParts = {},
): Fault {
  const { label, what, block } = asked;
  return {
    error: new PackhouseError({
      code,
      message: `Node ${label.text} ${happened} when asked ${what}.`,
      hint: more.hint,
      data: { upstream: label.name, ...(block === undefined ? {} : { block }), ...more.data },
      cause: more.cause,
    }),
    happened,
    action,
    weighs: more.weighs ?? false,
    refusesParams: more.refusesParams ?? false,
    pauseMs: more.pauseMs ?? 0,
    retryAfterMs: more.retryAfterMs,
  };
}

/** The meanings with a specific error code. */
const CODES: Partial<Record<Meaning, ErrorCode>> = {
  'slow-down': 'NODE_RATE_LIMITED',
  plan: 'NODE_UNAUTHORIZED',
  refused: 'NODE_UNAUTHORIZED',
  'method-missing': 'NODE_METHOD_MISSING',
  'too-large': 'NODE_ANSWER_TOO_LARGE',
  'timed-out': 'NODE_TIMEOUT',
};

const HINTS: Partial<Record<Meaning, string>> = {
  'slow-down': 'Set requestsPerSecond for it in the networks file.',
  plan: 'Check the plan of its account, and whether it is paid for.',
  refused: 'Check the key in its address or headers.',
};

/** `none` is for forwarded calls: here the call is our own, and another upstream may know its form. */
function toFault(
  verdict: Verdict,
  asked: Asked,
  otherwise: ErrorCode,
  happened: string,
  calls: number,
  more: FaultParts = {},
): Fault {
  const { meaning, pauseMs, retry, shrinks, weighs } = verdict;
  const action = calls > 1 && shrinks ? 'shrink' : retry === 'here' ? 'here' : 'elsewhere';
  return makeFault(asked, CODES[meaning] ?? otherwise, happened, action, {
    hint: HINTS[meaning],
    weighs: weighs === 'alone' ? calls === 1 : weighs,
    refusesParams: meaning === 'params-refused',
    pauseMs,
    ...more,
    retryAfterMs: mayPause(verdict) ? more.retryAfterMs : undefined,
  });
}

/** A JSON-RPC error object, its valid fields only. */
function readRpcError(error: unknown): { code: number; message: string } {
  if (typeof error === 'string') return { code: 0, message: error };
  if (typeof error !== 'object' || error === null) return { code: 0, message: JSON.stringify(error) ?? '' };
  const code = 'code' in error ? Number(error.code) : 0;
  const message =
    'message' in error && typeof error.message === 'string' ? error.message : JSON.stringify(error);
  return { code: Number.isFinite(code) ? code : 0, message };
}

/** The fault of a JSON-RPC error; `calls` is how many calls shared the request. */
export function toRpcFault(
  error: unknown,
  asked: Asked,
  request: { calls: number; method: string; status?: number; wait?: number | undefined },
): Fault {
  const { calls, method, status = 200, wait } = request;
  const { code, message } = readRpcError(error);
  const verdict = judgeError(status, code, message, { method, family: 'evm', calls });
  const under = status === 200 ? '' : ` under HTTP ${status}`;
  const happened = `answered error ${code} "${asked.label.quote(message)}"${under}`;
  return toFault(verdict, asked, 'NODE_ERROR', happened, calls, {
    retryAfterMs: wait,
    data: { rpcCode: code, meaning: verdict.meaning },
  });
}

/** The fault of an HTTP status other than 200 without a JSON-RPC error; `text` is the start of the body. */
export function toStatusFault(
  http: Pick<HttpAnswer, 'status' | 'retryAfter' | 'location'> & { text: string },
  asked: Asked,
  calls: number,
  now: number,
): Fault {
  const { status, text } = http;
  const verdict = judgeStatus(status, text);
  const wait = { retryAfterMs: parseRetryAfter(http.retryAfter, now) };
  const said = text.trim() === '' ? '' : ` ("${asked.label.quote(text)}")`;
  const fault = (happened: string, more: FaultParts = wait): Fault =>
    toFault(verdict, asked, 'NODE_HTTP_ERROR', happened, calls, more);
  const verb = STATUS_VERBS[verdict.meaning];
  if (verb !== undefined) return fault(`${verb} with HTTP ${status}${said}`);
  if (verdict.meaning === 'too-large') return fault(`answered HTTP ${status}, too large`);
  if (status < 300 || status > 399) return fault(`answered HTTP ${status}${said}`);
  const to = http.location === undefined ? '' : ` to ${asked.label.quote(http.location)}`;
  return fault(`redirects${to} (HTTP ${status})`, {
    hint: 'Redirects are not followed: give the final address.',
  });
}

const STATUS_VERBS: Partial<Record<Meaning, string>> = {
  'slow-down': 'asked for fewer requests',
  refused: 'refused the credentials',
  plan: 'refused its account',
};

const SOCKET_FAULTS: Partial<Record<Meaning, readonly [ErrorCode, hint: string]>> = {
  'timed-out': ['NODE_TIMEOUT', 'Check the node, or raise the timeout.'],
  broken: ['NODE_NOT_JSON_RPC', 'Check that the address is that of a JSON-RPC endpoint.'],
  unreachable: ['NODE_UNREACHABLE', 'Check that the node runs and that its address is right.'],
};

/** The fault of a connection's error: NODE_TIMEOUT, NODE_NOT_JSON_RPC (no HTTP at all) or NODE_UNREACHABLE. */
export function toTransportFault(cause: unknown, asked: Asked, calls: number): Fault {
  const { verdict, words } = judgeSocket(cause);
  const text = cause instanceof Error ? cause.message : String(cause);
  const happened = words ?? `could not be reached ("${asked.label.quote(text)}")`;
  const [code, hint] = SOCKET_FAULTS[verdict.meaning] as readonly [ErrorCode, string];
  return toFault(verdict, asked, code, happened, calls, { cause, hint: getCertificateHint(cause) ?? hint });
}
