import { CallController } from '@packhouse/runtime';
import { noteOnce } from '../http/exchange.js';
import { PROBLEM_REASONS, Problem, problemOfError } from '../http/problem.js';
import { answerCall } from './answer-call.js';
import { failure } from './ask-node.js';
import type { CallContext } from './method.js';
import type { RpcItem } from './read-request.js';
import { AFTER_RESULT, beforeResult, logInternal, nodeErrorText, refusalText } from './send.js';

/** Calls of one batch that run at the same time. */
const CONCURRENCY = 8;

/**
 * Answers the items of a batch; null: all of them are notifications. A batch is sent whole, so its answers together
 * may be as large as a single one. A call whose answer does not fit any more is refused by itself.
 */
export async function answerBatch(
  items: readonly RpcItem[],
  caller: CallContext,
  request: { id: string },
): Promise<Buffer | null> {
  const { maxAnswerBytes } = caller.at.network.rpc;
  let bytes = 0;

  const answer = async (item: RpcItem): Promise<Buffer | null> => {
    if ('problem' in item) {
      noteRefusal(caller, item.problem);
      return refusalText(item.id, item.problem, request.id);
    }
    const { call } = item;
    let mine = 0;
    const reserve = (size: number): void => {
      if (bytes - mine + size > maxAnswerBytes) {
        throw new Problem('answer-too-large', {
          detail: `The answers of the batch are larger than ${maxAnswerBytes} bytes; ask this one by itself.`,
          members: { limit: maxAnswerBytes },
        });
      }
      bytes += size - mine;
      mine = size;
    };
    const stop = new CallController();
    const leave = (): void => stop.abort(caller.signal.reason);
    if (caller.signal.aborted) leave();
    else caller.signal.addEventListener('abort', leave, { once: true });
    try {
      const said = await answerCall(call, { ...caller, signal: stop, reserve });
      if (call.id === undefined) return null;
      if (said.kind === 'error') return nodeErrorText(call.id, said.error);
      const pieces: Buffer[] = [];
      const { rest } = said.body;
      // A result that would be streamed on its own is held here until the client has the batch.
      const held =
        rest === null ? undefined : await caller.at.memory?.enter(caller.signal, caller.key?.id ?? 0);
      try {
        reserve(said.body.bytes.length);
        pieces.push(said.body.bytes);
        for await (const piece of rest ?? []) {
          reserve(mine + piece.length);
          pieces.push(piece);
        }
        held?.(mine);
      } catch (error) {
        held?.(0);
        // Otherwise only reading from an upstream can fail here.
        throw error instanceof Problem
          ? error
          : failure({ reason: 'unavailable', detail: 'a node broke off' });
      }
      return Buffer.concat([beforeResult(call.id), ...pieces, AFTER_RESULT]);
    } catch (error) {
      stop.abort(error);
      reserve(0);
      if (call.id === undefined || caller.signal.aborted) return null;
      const problem = problemOfError(error);
      logInternal(problem, request, caller.context.logger);
      return refusalText(call.id, problem, request.id);
    }
  };

  const texts = new Array<Buffer | null>(items.length).fill(null);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let mine = next++; mine < items.length && !caller.signal.aborted; mine = next++) {
      texts[mine] = await answer(items[mine] as RpcItem);
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, work));
  const answers = texts.filter((text) => text !== null);
  if (answers.length === 0) return null;
  const pieces = answers.flatMap((text, at) => [Buffer.from(at === 0 ? '[' : ','), text]);
  return Buffer.concat([...pieces, Buffer.from(']')]);
}

/** Counts an item that is not a call. */
function noteRefusal({ at, key, notes }: CallContext, { reason }: Problem): void {
  const code = String(PROBLEM_REASONS[reason].code);
  at.metrics?.refused(key?.prefix ?? '', code);
  noteOnce(notes?.codes, code);
}
