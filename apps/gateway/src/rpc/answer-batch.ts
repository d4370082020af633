import type { ResultBody } from '@packhouse/node-rpc';
import { CallController, type FairTurns } from '@packhouse/runtime';
import { type Exchange, noteOnce } from '../http/exchange.js';
import type { TakeTurn } from '../http/paced-pieces.js';
import { PROBLEM_REASONS, Problem, toProblem } from '../http/problem.js';
import { answerCall } from './answer-call.js';
import { countBytes, failure, getOwnerName, getPieces } from './ask-node.js';
import { type CallContext, type RpcNetwork, toCaller } from './method.js';
import type { RpcItem } from './read-request.js';
import {
  AFTER_RESULT,
  beforeResult,
  limitSendTime,
  logInternal,
  nodeErrorText,
  refusalText,
} from './send.js';

/*
 * The calls of a batch, by their place:
 *
 *     0 … sent      the client has taken the answers; their memory is free
 *     sent … begun  in flight, or answered and waiting for an answer before them
 *     begun …       not begun; never begun if the client goes away
 *
 * `begun - sent` is at most AHEAD, and answers that wait have `maxAnswerBytes` together at most. So a client that does
 * not read stops its own batch, and its memory does not grow.
 */

/** Requests to nodes that one batch has in flight: single calls, or calls of one method that share a request. */
const CONCURRENCY = 8;
/** Calls that may be begun before the answer whose turn it is has been taken. */
const AHEAD = 64;
/** Answers up to this size are sent together with their neighbours, in one piece. */
const JOINED_BYTES = 65_536;

/** The answer to one item; no pieces: it is a notification, or the client is gone. */
interface Answered {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  /** Frees the memory that is counted for the answer. */
  free(): void;
}

/** The request that a batch came with. */
type BatchRequest = Pick<Exchange, 'id' | 'response' | 'turn'>;

/** Whether a batch has any answer; one of notifications alone has none. */
export function hasAnswers(items: readonly RpcItem[]): boolean {
  return items.some((item) => 'problem' in item || item.call.id !== undefined);
}

/**
 * Answers the items of a batch, in their order, as the pieces of one JSON array. An item that fails is refused by
 * itself, and so is an answer that does not fit beside those that wait. Reading the next piece says that the client
 * took the one before; a client that takes longer than it may is cut off.
 */
export async function* answerBatch(
  items: readonly RpcItem[],
  caller: CallContext,
  request: BatchRequest,
  turns: FairTurns,
): AsyncGenerator<Buffer> {
  const { signal } = caller;
  const { maxAnswerBytes } = caller.network.config.rpc;
  const waiting = new Map<number, Answered>();
  /** `running` requests in flight have so many `calls`. */
  let [begun, sent, running, calls] = [0, 0, 0, 0];
  /** Bytes of answers that are held, and of the largest so far. */
  let [bytes, largest] = [0, 0];
  let wake = (): void => undefined;

  /** Counts a held answer; that whose turn it is always fits, so that a batch never stops. */
  const reserver = (at: number): ((size: number) => void) => {
    let mine = 0;
    return (size) => {
      if (size > mine && at > sent && bytes - mine + size > maxAnswerBytes) throw tooMuch(maxAnswerBytes);
      bytes += size - mine;
      mine = size;
      largest = Math.max(largest, size);
    };
  };

  const begin = (): void => {
    while (begun < items.length && running < CONCURRENCY && begun - sent < AHEAD && !signal.aborted) {
      const fitting = largest === 0 ? AHEAD : Math.floor((maxAnswerBytes - bytes) / largest) - calls;
      if (begun > sent && fitting < 1) return;
      const group = takeTogether(items, begun, Math.min(AHEAD - (begun - sent), fitting), caller.network);
      const first = begun;
      begun += group.length;
      running += 1;
      calls += group.length;
      void inTurn(group, turns, caller, async (item, at) => {
        const answered = await answerItem(item, caller, request, reserver(first + at));
        calls -= 1;
        waiting.set(first + at, answered);
        wake();
      }).then(() => {
        running -= 1;
        begin();
      });
    }
  };

  const leave = (): void => wake();
  signal.addEventListener('abort', leave, { once: true });
  let separator = '[';
  try {
    begin();
    while (sent < items.length && !signal.aborted) {
      const taken: Answered[] = [];
      const pieces: Buffer[] = [];
      let size = 0;
      let next = waiting.get(sent);
      while (next !== undefined && size < JOINED_BYTES) {
        taken.push(next);
        waiting.delete(sent + taken.length - 1);
        if (next.pieces.length > 0) {
          pieces.push(Buffer.from(separator), ...next.pieces);
          separator = ',';
          size += next.bytes;
        }
        next = waiting.get(sent + taken.length);
      }
      if (taken.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const inTime = limitSendTime(request.response);
      if (size > JOINED_BYTES) yield* pieces;
      else if (pieces.length > 0) yield Buffer.concat(pieces);
      inTime();
      for (const { free } of taken) free();
      sent += taken.length;
      begin();
    }
    if (separator === ',' && !signal.aborted) yield Buffer.from(']');
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** The next items: one, or calls of one method that share a request to a node, `most` at most. */
function takeTogether(
  items: readonly RpcItem[],
  from: number,
  most: number,
  network: RpcNetwork,
): readonly RpcItem[] {
  const first = items[from] as RpcItem;
  if ('problem' in first || most < 2) return [first];
  const { method } = first.call;
  const end = Math.min(items.length, from + most, from + network.forwarder.callsTogether(method));
  let next = from + 1;
  for (let item = items[next]; next < end && item !== undefined; item = items[next]) {
    if ('problem' in item || item.call.method !== method) break;
    next += 1;
  }
  return items.slice(from, next);
}

/** Answers items at the same time, when it is their caller's turn; never rejects. */
async function inTurn(
  items: readonly RpcItem[],
  turns: FairTurns,
  caller: CallContext,
  answer: (item: RpcItem, at: number) => Promise<void>,
): Promise<void> {
  let over: (() => void) | undefined;
  try {
    if (!items.every((item) => 'problem' in item))
      over = await turns.enter(getOwnerName(caller), caller.signal);
  } catch {
    // The client is gone, which the answers find out.
  }
  await Promise.all(items.map(answer));
  over?.();
}

/** Answers one item; never rejects. */
async function answerItem(
  item: RpcItem,
  caller: CallContext,
  request: BatchRequest,
  reserve: (size: number) => void,
): Promise<Answered> {
  if ('problem' in item) {
    noteRefusal(caller, item.problem);
    return answered([refusalText(item.id, item.problem, request.id)]);
  }
  const { call } = item;
  const stop = new CallController();
  const leave = (): void => stop.abort(caller.signal.reason);
  if (caller.signal.aborted) leave();
  else caller.signal.addEventListener('abort', leave, { once: true });
  const free = (): void => {
    caller.signal.removeEventListener('abort', leave);
    reserve(0);
    stop.abort(TAKEN);
  };
  try {
    const mine = toCaller(caller, { signal: stop, reserve });
    const answer = await answerCall(call, mine);
    if (call.id === undefined) {
      free();
      return answered([]);
    }
    if (answer.kind === 'error') return answered([nodeErrorText(call.id, answer.error)], free);
    const pieces = await readWhole(answer.body, mine, reserve, request.turn);
    return answered([beforeResult(call.id), ...pieces, AFTER_RESULT], free);
  } catch (error) {
    free();
    if (call.id === undefined || caller.signal.aborted) return answered([]);
    const problem = toProblem(error);
    logInternal(problem, request, caller.context.logger);
    return answered([refusalText(call.id, problem, request.id)]);
  }
}

/** The bytes of a result. One that would be streamed on its own is held, so that it can still be refused. */
async function readWhole(
  body: ResultBody,
  caller: CallContext,
  reserve: (size: number) => void,
  turn: TakeTurn,
): Promise<readonly Buffer[]> {
  const { rest } = body;
  if (rest === null) {
    const whole = getPieces(body);
    reserve(countBytes(whole));
    return whole;
  }
  const reserved = await caller.network.memory?.reserve(caller.signal, getOwnerName(caller), 'batch');
  const read = [body.bytes];
  let size = body.bytes.length;
  try {
    reserve(size);
    for await (const piece of rest) {
      await turn(piece.length);
      size += piece.length;
      reserve(size);
      read.push(piece);
    }
    reserved?.(size);
    return read;
  } catch (error) {
    reserved?.(0);
    // Otherwise only reading from an upstream can fail here.
    throw error instanceof Problem
      ? error
      : failure({ reason: 'unavailable', detail: 'a node closed the connection' });
  }
}

/** The reason of a call's signal once its answer was taken: one error for all, as its stack is never read. */
const TAKEN = new Error('the client has its answer');

function answered(pieces: readonly Buffer[], free = (): void => undefined): Answered {
  return { pieces, bytes: countBytes(pieces), free };
}

function tooMuch(limit: number): Problem {
  return new Problem('answer-too-large', {
    detail: `The pending answers of the batch are larger than ${limit} bytes; send this call by itself.`,
    members: { limit },
  });
}

/** Counts an item that is not a call. */
function noteRefusal({ network, key, notes }: CallContext, { reason }: Problem): void {
  const code = String(PROBLEM_REASONS[reason].code);
  network.metrics?.refused(key?.prefix ?? '', code);
  noteOnce(notes?.codes, code);
  notes?.failed.push('other');
}
