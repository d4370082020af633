import { refuseMethod } from '../auth/key-restrictions.js';
import { noteOnce } from '../http/exchange.js';
import { problemOfError } from '../http/problem-of-error.js';
import { PROBLEM_REASONS } from '../http/problem-reasons.js';
import type { Soon } from '../http/soon.js';
import { answerCall, findMethod, methodOf } from './answer-call.js';
import type { RpcAnswer, RpcVisit } from './method.js';
import type { RpcCall } from './read-request.js';

/** Methods of one request that the log names. */
const NAMED_METHODS = 10;

/** Answers one call, and notes it in the metrics, the log and the trace; at once where it can. Throws problems. */
export function answerObserved(call: RpcCall, visit: RpcVisit): Soon<RpcAnswer> {
  const { at, key, notes } = visit;
  const found = findMethod(at, call.method);
  const name = found?.name ?? 'other';
  if (notes !== undefined) {
    notes.count += 1;
    if (notes.methods.length < NAMED_METHODS) noteOnce(notes.methods, name);
  }
  const ended = at.metrics?.begin(name, key?.prefix ?? '');
  const span = visit.span?.child(name, { 'rpc.system.name': 'jsonrpc', 'rpc.method': name });
  const end = (code: string): void => {
    ended?.(code);
    if (code !== 'ok') noteOnce(notes?.codes, code);
    if (span === undefined) return;
    if (code !== 'ok') {
      span.note({ 'rpc.response.status_code': code });
      span.fail(code);
    }
    span.end();
  };
  const answered = (answer: RpcAnswer): RpcAnswer => {
    end(answer.kind === 'error' ? codeOf(answer.error) : 'ok');
    return answer;
  };
  const failed = (error: unknown): never => {
    end(visit.signal.aborted ? 'aborted' : String(PROBLEM_REASONS[problemOfError(error).reason].code));
    throw error;
  };
  try {
    const method = found ?? methodOf(at, call.method);
    if (key !== undefined) refuseMethod(key, method.name, call.method);
    if (method.handle !== undefined) at.metrics?.answered('own');
    const answer = answerCall(method, call, span === undefined ? visit : { ...visit, span });
    return answer instanceof Promise ? answer.then(answered, failed) : answered(answer);
  } catch (error) {
    return failed(error);
  }
}

/** The code of a node's own error object. */
function codeOf(error: Buffer): string {
  try {
    return String((JSON.parse(error.toString('utf8')) as { code?: unknown }).code);
  } catch {
    return 'other';
  }
}
