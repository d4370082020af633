import type { Family } from '@packhouse/networks';
import { ERROR_ROWS } from './error-rows.js';
import { MEANINGS, type Meaning, type Row, SOCKET_ROWS, STATUS_ROWS, type Verdict } from './meanings.js';

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

/** The limits in a node's refusal of eth_getLogs. */
export interface RefusedRange {
  /** Too much was found, whatever the width of the range: another range of that width may work. */
  logs: boolean;
  /** The widest range that it accepts, in blocks, if it names one. */
  blocks: number | null;
  /** The last block of a range from the same start that it says would work. */
  until: number | null;
}

/** Too much was found, took too long to find, or is too large to send. */
const RESULTS =
  /(more than|exceed\w*|max\w*|limit\w*|over|cap of)\D{0,40}[\d,]+\s*k?\s*\b(results?|logs?|events?)\b|\b(results?|logs?|events?)\b\D{0,40}(exceed\w*|max\w*|limit\w*|more than)|max\w* (results|logs|events)|response (size|is too)|(response|result|body|payload) (is )?too (large|big|many)|size (limit )?exceed|too many (logs|results|events)|query (timeout|timed out|returned)/;
/** The range is wider than the node accepts. */
const WIDTH =
  /\branges?\b|blocks? (distance|limit|count|span)|too many blocks|too wide|(number of|requested) blocks|query must be smaller|exceed\w* max\w* blocks?/;
/** A word by which a message is about a limit rather than about a wrong parameter. */
const LIMIT =
  /limit|max|exceed|wide|large|more than|greater than|smaller than|up to|over \d|too many|too big|timeout|timed out|this block range/;
/** geth's messages for an invalid range. */
const WRONG = /invalid block range|begin block|from.{0,20}(greater|higher|after).{0,20}to\b/;

/** A limit after a word for one: `limited to a 10,000 range`, `maximum is set to 2048`, `0 - 10000 blocks`. */
const NAMED =
  /(?:max(?:imum)?|limit(?:ed)?|up to|over|exceeds?|than|cap)\b[^\d]{0,48}?(?:0\s*-\s*)?(\d[\d,_]*)\s*(k\b)?/g;
const HEX_RANGE = /\[\s*0x[0-9a-f]+\s*,\s*(0x[0-9a-f]{1,13})\s*\]/;
const DECIMAL_RANGE = /(?:retry|try) with (?:the |this )?(?:block )?range:? \[?(\d+)\s*(?:-|,|to)\s*(\d+)/;

/**
 * Reads a node's error; null if it is no refusal of a range. The codes say little (-32005, -32602, -32000, -32600,
 * -32614, 35 are all in use), so the message decides; the test has those of today's nodes and providers.
 */
export function parseRefusedRange(code: number, message: string): RefusedRange | null {
  const text = message.toLowerCase();
  const results = RESULTS.test(text);
  if (!results && !WIDTH.test(text) && !(code === -32005 && /limit exceeded/.test(text))) return null;
  if (!LIMIT.test(text) || WRONG.test(text)) return null;
  const until = HEX_RANGE.exec(text)?.[1] ?? DECIMAL_RANGE.exec(text)?.[2];
  return {
    logs: results,
    blocks: results ? null : parseNamedBlocks(text),
    until: until === undefined ? null : Number(until),
  };
}

function parseNamedBlocks(text: string): number | null {
  for (const [, digits, thousands] of text.matchAll(NAMED)) {
    const blocks = Number((digits as string).replaceAll(/[,_]/g, '')) * (thousands === undefined ? 1 : 1_000);
    if (blocks > 0 && Number.isSafeInteger(blocks)) return blocks;
  }
  return null;
}
