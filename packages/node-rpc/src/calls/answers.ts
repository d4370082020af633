import { isAscii, isUtf8 } from 'node:buffer';
import type { Scope } from '@packhouse/runtime';
import { type Asked, type Fault, makeFault, toRpcFault, toStatusFault } from '../upstream/fault.js';
import type { HttpAnswer } from '../upstream/http.js';
import type { NodeLabel } from '../upstream/label.js';
import { findPlace, isWithoutId } from '../upstream/request-ids.js';
import { parseRetryAfter } from '../upstream/verdict.js';
import { type Answer, type Call, failAll, toAsked } from './call.js';
import { readRawAnswers } from './raw-answers.js';
import { openStreamedAnswer } from './stream-answer.js';

/** Only the start of an answer that is no success is read. */
const ERROR_BODY_BYTES = 1_048_576;
/** Receipts and single objects beyond the body limit are assembled up to this multiple of it. */
const ASSEMBLE_FACTOR = 8;
/** A streamed answer that is not read for this many timeouts loses its connection. */
const IDLE_FACTOR = 10;

/** The facts of a request that reading its answer needs. */
interface ReadOptions {
  label: NodeLabel;
  scope: Scope;
  firstId: number;
  maxBodyBytes: number;
  timeoutMs: number;
  /** Current time, for Retry-After dates. */
  now: number;
  /** Called with a fault that is found only when an answer is parsed, after this returned it as good. */
  foundLate?: ((fault: Fault) => void) | undefined;
  /** Called if an answer may be that to another request: the connection cannot be trusted any more. */
  foundForeign?: (() => void) | undefined;
}

/** Returns the outcome of each call of an HTTP answer. Rejects only when aborted. */
export async function readHttpAnswer(
  http: HttpAnswer,
  calls: readonly Call[],
  options: ReadOptions,
): Promise<Answer[]> {
  const { firstId, foundForeign, foundLate, label, maxBodyBytes, now } = options;
  const { body, status } = http;
  const asked = toAsked(label, calls);
  const all = (fault: Fault): Answer[] => failAll(calls, fault);
  const failedStatus = (start: Buffer | undefined): Answer[] => {
    const text = start?.subarray(0, 400).toString('utf8') ?? '';
    return all(toStatusFault({ ...http, text }, asked, calls.length, now));
  };

  if (body.whole) {
    const wait = parseRetryAfter(http.retryAfter, now);
    const place = { label, firstId, foundForeign, status, wait };
    if (status === 200) {
      const malformed = (call: Call, cause: unknown): Fault => {
        const fault = notJsonFault(body.bytes, toAsked(label, [call]), 1, cause);
        foundLate?.(fault);
        return fault;
      };
      const raw = readRawAnswers(body.bytes, calls, firstId, malformed);
      return raw ?? readAnswers(body.bytes, calls, place);
    }
    // Some node programs send a JSON-RPC error with a failing status; the error says more.
    if (body.bytes.length < ERROR_BODY_BYTES) {
      const said = readAnswers(body.bytes, calls, place);
      const [first] = said;
      if (first?.ok === false && 'rpcCode' in first.fault.error.data) return said;
    }
    return failedStatus(body.bytes);
  }
  if (status !== 200) {
    body.rest.destroy();
    return failedStatus(body.start[0]);
  }
  const only = calls.length === 1 ? calls[0] : undefined;
  if (only?.oversize !== undefined) return [await readOversize(only, body, asked, options)];
  body.rest.destroy();
  const happened = `answered with more than ${maxBodyBytes} bytes`;
  const action = calls.length > 1 ? 'shrink' : 'give-up';
  const hint = 'Raise NODE_MAX_BODY.';
  return all(makeFault(asked, 'NODE_ANSWER_TOO_LARGE', happened, action, { hint }));
}

async function readOversize(
  call: Call,
  body: Extract<HttpAnswer['body'], { whole: false }>,
  asked: Asked,
  options: ReadOptions,
): Promise<Answer> {
  const { firstId, maxBodyBytes, scope, timeoutMs } = options;
  const opened = await openStreamedAnswer({
    start: body.start,
    rest: body.rest,
    id: firstId,
    method: call.method,
    asked,
    signal: scope.signal,
    assemble: call.oversize === 'assemble',
    elementBytes: maxBodyBytes,
    valueBytes: ASSEMBLE_FACTOR * maxBodyBytes,
    idleMs: IDLE_FACTOR * timeoutMs,
    ended: scope.hold(),
  });
  if (opened.kind === 'fault') return { ok: false, fault: opened.fault };
  if (opened.kind === 'value') return { ok: true, value: opened.value, bytes: opened.bytes };
  return { ok: true, elements: opened.elements, bytes: body.startBytes };
}

/** The text of a JSON-RPC request; ids are `firstId`, `firstId + 1`, … A single call is not put in an array. */
export function writeRequest(calls: readonly Call[], firstId: number): string {
  const one = (call: Call, index: number): object => ({
    jsonrpc: '2.0',
    id: firstId + index,
    method: call.method,
    params: call.params,
  });
  const only = calls.length === 1 ? calls[0] : undefined;
  return JSON.stringify(only === undefined ? calls.map(one) : one(only, 0));
}

/** Parses a body; ASCII is read as latin1, which V8 does twice as fast as UTF-8. Throws SyntaxError. */
function parseJson(body: Buffer): unknown {
  if (isAscii(body)) return JSON.parse(body.toString('latin1'));
  if (!isUtf8(body)) throw new SyntaxError('not UTF-8');
  return JSON.parse(body.toString('utf8'));
}

interface AnswerPlace extends Pick<ReadOptions, 'label' | 'firstId' | 'foundForeign'> {
  status: number;
  /** The wait that the upstream asked for, in milliseconds. */
  wait?: number | undefined;
}

/** Matches the answers in a body to their calls; never throws. */
function readAnswers(body: Buffer, calls: readonly Call[], place: AnswerPlace): Answer[] {
  const { firstId, label } = place;
  const asked = toAsked(label, calls);
  const all = (fault: Fault): Answer[] => failAll(calls, fault);
  let parsed: unknown;
  try {
    parsed = parseJson(body);
  } catch (error) {
    return all(notJsonFault(body, asked, calls.length, error));
  }
  if (calls.length > 1 && Array.isArray(parsed)) return readBatch(parsed, body.length, calls, place);
  if (!isEnvelope(parsed)) return all(notEnvelopeFault(body, asked, calls.length));
  const id = writeId(parsed);
  if (findPlace(id, firstId, calls.length) === undefined && !(hasError(parsed) && isWithoutId(id))) {
    place.foundForeign?.();
    const happened = `answered with id ${label.quote(id ?? 'none')} instead of ${firstId}`;
    const action = calls.length > 1 ? 'shrink' : 'here';
    return all(makeFault(asked, 'NODE_ANSWER_INVALID', happened, action, { weighs: true }));
  }
  if (hasError(parsed)) return all(errorFault(parsed.error, asked, calls, place));
  if (calls.length > 1) {
    const happened = 'answered with one object instead of a list';
    return all(makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'shrink'));
  }
  return [readItem(parsed, body.length, asked, calls, place)];
}

function readBatch(items: unknown[], bytes: number, calls: readonly Call[], place: AnswerPlace): Answer[] {
  const { firstId, label } = place;
  const own = new Array<Envelope | 'several' | undefined>(calls.length).fill(undefined);
  let isCrossed = false;
  for (const item of items) {
    if (!isEnvelope(item)) continue;
    const id = writeId(item);
    const index = findPlace(id, firstId, calls.length);
    if (index === undefined) isCrossed ||= !hasError(item) || !isWithoutId(id);
    else if (own[index] === undefined) own[index] = item;
    else {
      own[index] = 'several';
      isCrossed = true;
    }
  }
  if (isCrossed) place.foundForeign?.();
  const share = Math.ceil(bytes / calls.length);
  return calls.map((call, index): Answer => {
    const asked = toAsked(label, [call]);
    const item = own[index];
    if (item !== undefined && item !== 'several') return readItem(item, share, asked, calls, place);
    const happened =
      item === 'several'
        ? `answered more than once in a batch of ${calls.length}`
        : `left the answer out of a batch of ${calls.length}`;
    return { ok: false, fault: makeFault(asked, 'NODE_ANSWER_MISSING', happened, 'shrink') };
  });
}

/** JSON text of an answer's id. */
function writeId({ id }: Envelope): string | undefined {
  return id === undefined ? undefined : JSON.stringify(id);
}

function hasError({ error }: Envelope): boolean {
  return error !== undefined && error !== null;
}

function errorFault(error: unknown, asked: Asked, calls: readonly Call[], place: AnswerPlace): Fault {
  const { status, wait } = place;
  return toRpcFault(error, asked, { calls: calls.length, method: calls[0]?.method ?? '', status, wait });
}

function readItem(
  item: Envelope,
  bytes: number,
  asked: Asked,
  calls: readonly Call[],
  place: AnswerPlace,
): Answer {
  if (hasError(item)) return { ok: false, fault: errorFault(item.error, asked, calls, place) };
  if (item.result === undefined) {
    const happened = 'answered with neither result nor error';
    return { ok: false, fault: makeFault(asked, 'NODE_ANSWER_INVALID', happened, 'elsewhere') };
  }
  return { ok: true, value: item.result, bytes };
}

/** The fault of a body that is not JSON: HTML, nothing, text, or truncated JSON. */
function notJsonFault(body: Buffer, asked: Asked, calls: number, cause: unknown): Fault {
  const text = body.subarray(0, 400).toString('utf8').trim();
  const quote = asked.label.quote(text.slice(0, 60));
  const shortened = text.length > 60 ? `${quote}…` : quote;
  const happened = text.startsWith('<')
    ? `answered with HTML ("${shortened}") instead of JSON-RPC`
    : text === ''
      ? 'answered with an empty body instead of JSON-RPC'
      : text.startsWith('{') || text.startsWith('[')
        ? `answered with ${isUtf8(body) ? 'JSON that is cut off or malformed after' : 'text that is not UTF-8 in'} ${body.length} bytes`
        : `answered with "${shortened}" instead of JSON-RPC`;
  return makeFault(asked, 'NODE_NOT_JSON_RPC', happened, calls > 1 ? 'shrink' : 'here', {
    cause,
    weighs: calls === 1,
    hint: 'Check that the address is that of a JSON-RPC endpoint.',
  });
}

function notEnvelopeFault(body: Buffer, asked: Asked, calls: number): Fault {
  const happened = `answered with ${asked.label.quote(body.subarray(0, 60).toString('utf8'))} instead of JSON-RPC`;
  const action = calls > 1 ? 'shrink' : 'here';
  return makeFault(asked, 'NODE_NOT_JSON_RPC', happened, action, { weighs: calls === 1 });
}

interface Envelope {
  id?: unknown;
  result?: unknown;
  error?: unknown;
}

function isEnvelope(value: unknown): value is Envelope {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    ('result' in value || 'error' in value || 'jsonrpc' in value)
  );
}
