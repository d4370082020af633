import type { Scope } from '@packhouse/runtime';
import { type Answer, type Call, describeCalls } from './call.js';
import type { NodeLabel } from './node-label.js';
import { readAnswers } from './read-answers.js';
import { openStreamedAnswer } from './stream-answer.js';
import type { HttpAnswer } from './transport.js';
import { type Asked, type Fault, makeFault, statusFault } from './upstream/fault.js';
import { retryAfterMs } from './upstream/verdict.js';

/** Of an answer that is no success only the start is of interest. */
const ERROR_BODY_BYTES = 1_048_576;
/** Receipts and single objects beyond the body limit are put together up to this many times it. */
const ASSEMBLE_FACTOR = 8;
/** A streamed answer that nobody reads for this many timeouts loses its connection. */
const IDLE_FACTOR = 10;

/** What reading an answer needs to know about its request. */
export interface ReadOptions {
  label: NodeLabel;
  scope: Scope;
  firstId: number;
  maxBodyBytes: number;
  timeoutMs: number;
  /** The clock's time, for Retry-After dates. */
  now: number;
}

/** Turns an HTTP answer into what came of each call. Rejects only when aborted. */
export async function readHttpAnswer(
  http: HttpAnswer,
  calls: readonly Call[],
  options: ReadOptions,
): Promise<Answer[]> {
  const { firstId, label, maxBodyBytes, now } = options;
  const { body, status } = http;
  const asked: Asked = { label, what: describeCalls(calls), block: calls[0]?.block };
  const all = (fault: Fault): Answer[] => calls.map(() => ({ ok: false, fault }));
  const failedStatus = (start: Buffer | undefined): Answer[] => {
    const text = start?.subarray(0, 400).toString('utf8') ?? '';
    return all(statusFault({ ...http, text }, asked, calls.length, now));
  };

  if (body.whole) {
    const place = { label, firstId, status, wait: retryAfterMs(http.retryAfter, now) };
    if (status === 200) return readAnswers(body.bytes, calls, place);
    // Some nodes put a proper JSON-RPC error under a failing status, which says more.
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
  return all(
    makeFault(
      asked,
      'NODE_ANSWER_TOO_LARGE',
      `answered with more than ${maxBodyBytes} bytes`,
      calls.length > 1 ? 'shrink' : 'give-up',
      { hint: 'Raise NODE_MAX_BODY.' },
    ),
  );
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
