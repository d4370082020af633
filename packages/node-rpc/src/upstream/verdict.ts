import type { Family } from '@packhouse/networks';
import { ERROR_ROWS } from './error-rows.js';
import { MEANINGS, type Meaning, type Row, SOCKET_ROWS, STATUS_ROWS, type Verdict } from './meanings.js';
import {
  isWrongRange,
  parseRefusedRange,
  type RefusedRange,
  readRpcData,
  UNSURE_RANGE,
} from './refused-range.js';

interface Subject {
  method: string;
  family: Family;
  /** How many calls shared the request. */
  calls: number;
}

const ERRORS = ERROR_ROWS.map(withVerdict);
const STATUSES = STATUS_ROWS.map(withVerdict);
const SOCKETS = SOCKET_ROWS.map(withVerdict);

/** An error without a row. */
const OTHER_STATUS = resolve({ meaning: 'broken', weighs: 'alone', source: 'JSON-RPC answers with 200' });
const OTHER_ERROR = resolve({
  meaning: 'callers-fault',
  source: 'JSON-RPC 2.0, 5.1: codes of the application',
});
const OTHER_SOCKET = resolve({ meaning: 'unreachable', source: 'Node.js' });
/** Text of Cloudflare, with any status. */
const CLOUDFLARE = resolve({ meaning: 'slow-down', source: 'Cloudflare 1015: you are being rate limited' });

/** Meanings of an error that count with a status that blames the node; others are ignored then. */
const SAYS_MORE: ReadonlySet<Meaning> = new Set<Meaning>([
  'slow-down',
  'plan',
  'refused',
  'not-here',
  'pruned',
  'method-missing',
  'too-large',
  'range-refused',
  'no-batch',
  'timed-out',
]);

/** Judges a JSON-RPC error with its HTTP status. */
export function judgeError(status: number, code: number, message: string, subject: Subject): Verdict {
  const error = findError(code, message, subject)?.verdict ?? OTHER_ERROR;
  const row = status === 200 ? undefined : findStatus(status);
  return row === undefined || (row.final === undefined && SAYS_MORE.has(error.meaning)) ? error : row.verdict;
}

/** Judges an answer that is no success and holds no JSON-RPC error; `text` is the start of its body. */
export function judgeStatus(status: number, text = ''): Verdict {
  if (/error code: 1015/i.test(text)) return CLOUDFLARE;
  return findStatus(status)?.verdict ?? OTHER_STATUS;
}

/** Judges an error of the connection. */
export function judgeSocket(error: unknown) {
  const code = getCode(error);
  const name = code.startsWith('HPE_') ? 'HPE_' : code;
  const row = SOCKETS.find(({ words }) => name in words);
  return { verdict: row?.verdict ?? OTHER_SOCKET, words: row?.words[name], unsent: row?.unsent ?? false };
}

/** Whether a Retry-After of the answer is about the node. */
export function mayPause({ pauseMs, weighs }: Verdict): boolean {
  return pauseMs > 0 || weighs !== false;
}

function findError(code: number, message: string, subject: Subject) {
  return ERRORS.find(
    (row) =>
      (row.codes === undefined || row.codes.includes(code)) &&
      (row.family === undefined || row.family === subject.family) &&
      (row.methods === undefined || row.methods.test(subject.method)) &&
      (row.batched === undefined || subject.calls > 1) &&
      (row.says === undefined || row.says.test(message)) &&
      (row.range === undefined || parseRefusedRange(code, message) !== null),
  );
}

function findStatus(status: number) {
  return STATUSES.find(({ from, to = from }) => status >= from && status <= to);
}

function getCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return getCode(error.errors[0]);
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string') {
    return error.code;
  }
  return error instanceof Error && error.cause !== undefined ? getCode(error.cause) : '';
}

function withVerdict<R extends Row>(row: R): R & { verdict: Verdict } {
  return { ...row, verdict: resolve(row) };
}

function resolve(row: Row): Verdict {
  const { meaning, source } = row;
  const { pauseMs, retry, shrinks, weighs } = { ...MEANINGS[meaning], ...row };
  return { meaning, retry, shrinks, weighs, pauseMs, source };
}

/** A node is never paused for longer, whatever it asks for: some ask for a day. */
const MAX_PAUSE_MS = 600_000;

/** Milliseconds of a Retry-After header (RFC 9110, 10.2.3: seconds or a date): 0 to 600,000. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(header);
  const ms = seconds ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(MAX_PAUSE_MS, Math.max(0, ms));
}

/** Errors about the form of a request, its method, or what a call executed. */
const NOT_OF_RANGES: ReadonlySet<number> = new Set([3, -32700, -32600, -32601, -32602, -32604]);
/** Meanings that a smaller range may change, whatever the words. */
const OF_RANGES: ReadonlySet<Meaning> = new Set<Meaning>(['timed-out', 'broken']);
/** Meanings that it does not change, also if only the code says so. */
const OF_THE_NODE: ReadonlySet<Meaning> = new Set<Meaning>([
  'slow-down',
  'plan',
  'refused',
  'method-missing',
  'pruned',
]);

/** Reads a node's error to logs of several blocks; null if a smaller range would not help. */
export function judgeRefusedRange(error: {
  code: number;
  message: string;
  error: Buffer;
}): RefusedRange | null {
  const { code, message } = error;
  const said = parseRefusedRange(code, message, readRpcData(error.error));
  if (said !== null || NOT_OF_RANGES.has(code) || isWrongRange(message)) return said;
  const row = findError(code, message, { method: 'eth_getLogs', family: 'evm', calls: 1 });
  if (row === undefined || OF_RANGES.has(row.meaning)) return UNSURE_RANGE;
  // Scroll refuses wide ranges as -32001: only the words are about a block that is not there.
  const isMissing = row.meaning === 'not-here' && code !== -32001;
  return row.says !== undefined || isMissing || OF_THE_NODE.has(row.meaning) ? null : UNSURE_RANGE;
}
