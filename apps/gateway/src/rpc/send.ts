import type { Logger } from '@packhouse/runtime';
import type { Exchange } from '../http/exchange.js';
import type { Problem } from '../http/problem.js';
import { PROBLEM_REASONS, toProblem } from '../http/problem.js';
import type { HttpResponse } from '../plain-http/transport.js';
import { getPieces } from './ask-node.js';
import type { RpcAnswer } from './method.js';

/** How long a client may take to read a held answer, in milliseconds. */
const SEND_MS = 120_000;
/** Smaller answers fit into what a connection buffers anyway. */
const HELD_BYTES = 65_536;
/** ASCII only: as many bytes as characters. */
const PLAIN_ID = /^[ -~]*$/;

/** Sends the answer to one call, with its id as it was written. */
export function sendAnswer(exchange: Exchange, id: string, answer: RpcAnswer): void {
  // Answers to POST are not stored unless they say so (RFC 9110, 9.3.3).
  exchange.header('content-type', 'application/json');
  if (answer.kind === 'error') {
    exchange.sendBuffer(nodeErrorText(id, answer.error));
    return;
  }
  const { rest } = answer.body;
  const pieces = getPieces(answer.body);
  if (pieces.length > 1 || (pieces[0] as Buffer).length > HELD_BYTES) limitSendTime(exchange.response);
  if (rest === null && PLAIN_ID.test(id)) {
    exchange.sendParts(`{"jsonrpc":"2.0","id":${id},"result":`, pieces, '}');
    return;
  }
  const head = beforeResult(id);
  if (rest === null) exchange.sendBuffer(Buffer.concat([head, ...pieces, AFTER_RESULT]));
  else exchange.sendStream(streamed(head, answer.body.bytes, rest));
}

/** The pieces of an answer; its length is only known once it is sent. */
async function* streamed(head: Buffer, bytes: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  yield bytes;
  yield* rest;
  yield AFTER_RESULT;
}

/**
 * Sends a refusal in a JSON-RPC envelope. `id`: JSON text of the call's id. `httpErrors` is the network's setting:
 * `always200` for clients that read no body of another status.
 */
export function sendRefusal(
  exchange: Exchange,
  error: unknown,
  {
    logger,
    id = 'null',
    httpErrors,
  }: { logger: Logger; id?: string | undefined; httpErrors: 'status' | 'always200' },
): void {
  const problem = toProblem(error);
  logInternal(problem, exchange, logger);
  exchange.refusal = problem.reason;
  for (const [name, value] of Object.entries(problem.headers)) exchange.header(name, value);
  exchange
    // A WebSocket client reads nothing but the status.
    .status(httpErrors === 'always200' && problem.status !== 426 ? 200 : problem.status)
    .header('cache-control', 'no-store')
    .header('x-request-id', exchange.id)
    .header('content-type', 'application/json')
    .sendBuffer(refusalText(id, problem, exchange.id));
}

/** Logs a fault of the gateway's own, or a full disk, with its cause. */
export function logInternal(problem: Problem, request: { id: string }, logger: Logger): void {
  if (problem.reason !== 'internal' && problem.reason !== 'disk-full') return;
  logger.error({ requestId: request.id, err: problem.cause ?? problem }, problem.message);
}

/**
 * Closes the connection of a client that does not read its answer in time, so that no answer is held for ever. Call the
 * returned function if it did.
 */
export function limitSendTime(response: HttpResponse): () => void {
  const timer = setTimeout(() => response.destroy(), SEND_MS);
  timer.unref();
  const done = (): void => {
    clearTimeout(timer);
    response.off('close', done);
  };
  response.on('close', done);
  return done;
}

/** The part of the envelope before a result. */
export function beforeResult(id: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":`);
}

/** The part of the envelope after a result. */
export const AFTER_RESULT = Buffer.from('}');

/** An upstream's error in its envelope. */
export function nodeErrorText(id: string, error: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":`), error, AFTER_RESULT]);
}

/** A refusal of the gateway in its envelope. */
export function refusalText(id: string, problem: Problem, requestId: string): Buffer {
  const { code } = PROBLEM_REASONS[problem.reason];
  const data = { reason: problem.reason, requestId, ...problem.members };
  return Buffer.from(
    `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message: problem.message, data })}}`,
  );
}
