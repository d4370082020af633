import type { Family } from '@packhouse/networks';
import type { Meaning, Verdict } from '../../upstream/meanings.js';
import { parseRefusedRange } from '../../upstream/refused-range.js';
import type { Upstream } from '../../upstream/upstream.js';
import { judgeError, judgeStatus, mayPause } from '../../upstream/verdict.js';
import { checkBody, checkRest } from './check-result.js';
import type { Disproof, ForwardAnswer, ForwardRequest } from './forward-request.js';
import type { PostedAnswer } from './post-call.js';

/** The outcome of one try: an answer for the client, or why another upstream should be asked. */
export type TryOutcome =
  | Extract<ForwardAnswer, { kind: 'result' | 'error' }>
  /** Larger than the call allows, as it would be from every upstream. */
  | { kind: 'failed'; reason: 'too-large'; detail: string }
  | {
      kind: 'elsewhere';
      reason: 'unavailable' | 'nonsense' | 'busy';
      detail: string;
      retryAfterMs?: number;
      /** The upstream's own error: the client gets it if no other upstream does better. */
      rpcError?: Extract<ForwardAnswer, { kind: 'error' }>;
      /** The request did not reach the upstream: any call may be sent again. */
      unsent: boolean;
    };

/** Messages for clients about problems between operator and upstream; only the operator sees the upstream's text. */
const TROUBLE: Partial<Record<Meaning, string>> = {
  'slow-down': 'the nodes ask for fewer requests',
  plan: 'the nodes do not let the gateway in',
  refused: 'the nodes do not let the gateway in',
};

/** Statuses of these say nothing about the call. */
const OF_THE_NODE: ReadonlySet<Meaning> = new Set<Meaning>(['slow-down', 'plan', 'refused']);

/** Judges an answer by its HTTP status, body and proof; `wait` is the wait that it asked for, in milliseconds. */
export function judgeAnswer(
  upstream: Upstream,
  family: Family,
  request: ForwardRequest,
  { read, status, text }: PostedAnswer,
  wait: number | undefined,
  startedAt: number,
  disproof: Disproof | null,
): TryOutcome {
  const { circuit, history, name, pause } = upstream;
  const note = (verdict: Verdict, why: string): void => {
    if (verdict.weighs === false) circuit.succeeded();
    else upstream.failed(why);
    if (mayPause(verdict)) pause.ask({ pauseMs: verdict.pauseMs, retryAfterMs: wait }, startedAt);
  };
  if (read.kind === 'result' && status === 200) {
    const check = request.check?.();
    const wrong = check === undefined ? null : checkBody(check, read.body);
    if (wrong !== null) {
      upstream.failed(wrong);
      // A streamed answer that is not read keeps its connection.
      void read.body.rest?.[Symbol.asyncIterator]().return?.();
      return elsewhere('nonsense', `a node sent ${wrong}`, wait);
    }
    if (disproof?.isFalse) {
      upstream.failed('an answer that its block contradicts');
      return elsewhere('nonsense', 'a node sent an answer that its block contradicts', wait);
    }
    if (disproof !== null) {
      return elsewhere('unavailable', 'what a node sent could not be proved', wait);
    }
    // A stream has succeeded when it is over.
    const { rest } = read.body;
    if (rest === null) circuit.succeeded();
    pause.over();
    if (rest === null || check === undefined) return { kind: 'result', body: read.body, upstream: name };
    const checked = checkRest(check, rest, (found) => {
      upstream.failed(found);
      // Its beginning was counted as a result.
      upstream.count(request.method, 'nonsense', 1);
    });
    return { kind: 'result', body: { bytes: read.body.bytes, rest: checked }, upstream: name };
  }
  const parsed = read.kind === 'error' ? parseRpcError(read.error) : null;
  if (parsed !== null && read.kind === 'error') {
    const { code, message } = parsed;
    const verdict = judgeError(status, code, message, { method: request.method, family, calls: 1 });
    note(verdict, status === 200 ? `error ${code}, ${verdict.meaning}` : `HTTP ${status}`);
    if (verdict.meaning === 'pruned') history.pruned(request);
    const said = { kind: 'error', error: read.error, code, message, upstream: name } as const;
    const isOwn = request.checkedRead === true && verdict.meaning !== 'range-refused';
    if (verdict.retry === 'none' && !isOwn) return said;
    const detail = TROUBLE[verdict.meaning];
    if (detail !== undefined) return elsewhere('unavailable', detail, wait);
    return verdict.weighs === false
      ? elsewhere('unavailable', 'no node has it', wait, said)
      : elsewhere('unavailable', 'a node failed', wait);
  }
  if (status !== 200) {
    const verdict = judgeStatus(status);
    const refusal = OF_THE_NODE.has(verdict.meaning) ? null : readRefusal(request.method, text);
    if (refusal !== null) {
      circuit.succeeded();
      return { ...refusal, upstream: name };
    }
    note(verdict, `HTTP ${status}`);
    return elsewhere('unavailable', TROUBLE[verdict.meaning] ?? `a node answered HTTP ${status}`, wait);
  }
  if (read.kind === 'too-large') {
    circuit.succeeded();
    const detail = `the answer is larger than ${request.maxBytes} bytes`;
    return { kind: 'failed', reason: 'too-large', detail };
  }
  upstream.failed('no JSON-RPC');
  const what = read.kind === 'nonsense' ? read.what : 'an error that is none';
  return elsewhere('nonsense', `a node sent ${what}`, wait);
}

/** A refusal of a range that a node or its proxy sends as bare text, as the error that it stands for; null: it is none. */
function readRefusal(
  method: string,
  text = '',
): Omit<Extract<ForwardAnswer, { kind: 'error' }>, 'upstream'> | null {
  if (!/_getLogs$/.test(method) || text.startsWith('<')) return null;
  const [code, message] = [-32000, readText(text).trim()];
  if (parseRefusedRange(code, message) === null) return null;
  return { kind: 'error', error: Buffer.from(JSON.stringify({ code, message })), code, message };
}

/** The text of a JSON string, or of an object with one; else the text itself. */
function readText(text: string): string {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'string') return value;
    const { error, message = error } = value as { error?: unknown; message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}

function elsewhere(
  reason: 'unavailable' | 'nonsense',
  detail: string,
  wait: number | undefined,
  said?: Extract<ForwardAnswer, { kind: 'error' }>,
): TryOutcome {
  return { kind: 'elsewhere', reason, detail, unsent: false, retryAfterMs: wait, rpcError: said };
}

/** The code and message of an error object; null if it is none. */
export function parseRpcError(bytes: Buffer): { code: number; message: string } | null {
  try {
    const { code, message } = JSON.parse(bytes.toString('utf8')) as { code?: unknown; message?: unknown };
    if (typeof code !== 'number') return null;
    return { code, message: typeof message === 'string' ? message : '' };
  } catch {
    return null;
  }
}
