import type { Problem } from '../http/problem.js';
import { PROBLEM_REASONS } from '../http/problem-reasons.js';

/** What stands before a result in its envelope. */
export function beforeResult(id: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":`);
}

/** What stands behind it. */
export const AFTER_RESULT = Buffer.from('}');

/** The envelope of a node's error. */
export function nodeErrorText(id: string, error: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":`), error, AFTER_RESULT]);
}

/** The envelope of a refusal of ours. */
export function refusalText(id: string, problem: Problem, requestId: string): Buffer {
  const { code } = PROBLEM_REASONS[problem.reason];
  const data = { reason: problem.reason, requestId, ...problem.members };
  return Buffer.from(
    `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message: problem.message, data })}}`,
  );
}
