import { isAscii } from 'node:buffer';
import { type Outlined, outlineAnswer } from '@packhouse/kernels';
import type { Fault } from '../upstream/fault.js';
import type { Answer, Call } from './call.js';
import { RawResult } from './call.js';

/** Below, parsing costs no more. */
const MIN_BYTES = 2_048;

/**
 * Finds the results of these calls in a body without parsing them. Returns null if there is anything else in it: an
 * error, an id that is not asked for, a result that is no array or object, a form that is unusual. That is for the usual
 * parser, whose faults say what it is.
 */
export function readRawAnswers(
  body: Buffer,
  calls: readonly Call[],
  firstId: number,
  malformed: (call: Call, cause: unknown) => Fault,
): Answer[] | null {
  if (body.length < MIN_BYTES || calls.some(({ raw }) => raw !== true) || !isAscii(body)) return null;
  const root = outlineAnswer(body);
  if (root === null) return null;
  const isBatch = body[root.start] === 0x5b;
  if (isBatch !== calls.length > 1) return null;
  const envelopes = isBatch ? root.children() : [root];
  if (envelopes.length !== calls.length) return null;
  const bytes = Math.ceil(body.length / calls.length);
  const answers = new Array<Answer>(calls.length);
  for (const envelope of envelopes) {
    const result = getResult(body, envelope);
    if (result === null) return null;
    const index = getId(body, envelope, result) - firstId;
    const call = calls[index];
    // A second answer to the same call, or none of ours.
    if (call === undefined || answers[index] !== undefined) return null;
    answers[index] = new RawAnswer(new RawResult(body, result, (cause) => malformed(call, cause)), bytes);
  }
  return answers;
}

/**
 * An answer that parses its value when it is read. A getter of a class: accessors of an object itself are kept by V8, with
 * all that they close over, until a full collection of garbage.
 */
class RawAnswer {
  readonly ok = true;
  readonly raw: RawResult;
  readonly bytes: number;

  constructor(raw: RawResult, bytes: number) {
    this.raw = raw;
    this.bytes = bytes;
  }
  get value(): unknown {
    return this.raw.value;
  }
}

/** The one result of an envelope, if it is an array or object. */
function getResult(body: Buffer, envelope: Outlined): Outlined | null {
  if (body[envelope.start] !== 0x7b) return null;
  const result = envelope.member('result');
  const first = body[result?.start ?? 0];
  return result !== undefined && (first === 0x7b || first === 0x5b) ? result : null;
}

/** The id of an envelope; NaN if it has none or an error beside its result. All but the result is parsed here. */
function getId(body: Buffer, envelope: Outlined, result: Outlined): number {
  const before = body.toString('latin1', envelope.start, result.start);
  const behind = body.toString('latin1', result.end, envelope.end);
  try {
    const { id, error } = JSON.parse(`${before}0${behind}`) as { id?: unknown; error?: unknown };
    const failed = error !== undefined && error !== null;
    return typeof id === 'number' && !failed ? id : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
