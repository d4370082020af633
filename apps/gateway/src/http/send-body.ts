import { PackhouseError } from '@packhouse/runtime';
import type { HttpResponse } from '../plain-http/transport.js';
import { type ProblemReason, toProblem } from './problem.js';

/** An answer whose head is written, and what the log and the metrics have of its body. */
interface BegunAnswer {
  readonly response: HttpResponse;
  bytes: number;
  refusal: ProblemReason | '';
  failure: unknown;
}

/**
 * Sends what comes behind the head; never fails. A body that is not as long as its head says (`length`; absent: it says
 * nothing), or that fails, is cut off with its connection: the next answer would be read as a part of it. Not a pipeline,
 * which costs a twentieth of a download: it ends with an abort, whose error takes a stack trace.
 */
export async function sendBody(
  answer: BegunAnswer,
  body: AsyncIterable<Buffer | string>,
  length?: number,
): Promise<void> {
  const { response } = answer;
  let sent = 0;
  let wake: (() => void) | undefined;
  const proceed = (): void => wake?.();
  response.on('drain', proceed);
  response.on('close', proceed);
  try {
    for await (const piece of body) {
      if (response.destroyed) return;
      const bytes = sent + Buffer.byteLength(piece);
      if (length !== undefined && bytes > length) throw lengthMismatch(`at least ${bytes}`, length);
      sent = bytes;
      if (length === undefined) answer.bytes = sent;
      if (!response.write(piece)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (response.destroyed) return;
    }
    if (length !== undefined && sent < length) throw lengthMismatch(String(sent), length);
    response.end();
  } catch (error) {
    // What fails because the client has left is no fault.
    if (!response.destroyed) {
      answer.failure = error;
      answer.refusal = toProblem(error).reason;
      answer.bytes = sent;
    }
    response.destroy();
  }
}

function lengthMismatch(got: string, expected: number): PackhouseError {
  return new PackhouseError({
    code: 'INTERNAL',
    message: `The body of an answer has ${got} bytes, expected the ${expected} of its head; its connection was cut.`,
  });
}
