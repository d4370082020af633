import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Visit } from '../server/visit.js';
import { AFTER_RESULT, beforeResult, nodeErrorText } from './answer-text.js';
import { limitSending } from './limit-sending.js';
import type { RpcAnswer } from './method.js';

/** What of a reply JSON-RPC uses. */
export interface RpcReply {
  readonly raw: ServerResponse;
  code(status: number): RpcReply;
  header(name: string, value: string | number): RpcReply;
  type(contentType: string): RpcReply;
  send(body?: Buffer | Readable): unknown;
  /** Sends bytes between two texts of latin1 without joining them; absent where that is not possible. */
  sendParts?(before: string, pieces: readonly Buffer[], after: string): unknown;
}

/** Smaller answers fit into what a connection buffers anyway. */
const HELD_BYTES = 65_536;
/** As many bytes as characters. */
const PLAIN_ID = /^[ -~]*$/;

/** Sends the answer to one call, with its id as it was written. */
export function sendAnswer(
  { visit }: { visit: Visit },
  reply: RpcReply,
  id: string,
  answer: RpcAnswer,
): unknown {
  // Answers to POST are not stored unless they say so (RFC 9110, 9.3.3).
  reply.type('application/json');
  if (answer.kind === 'error') return reply.send(nodeErrorText(id, answer.error));
  const { rest } = answer.body;
  const pieces = answer.body.pieces ?? [answer.body.bytes];
  if (pieces.length > 1 || (pieces[0] as Buffer).length > HELD_BYTES) limitSending(reply.raw);
  if (rest === null && reply.sendParts !== undefined && PLAIN_ID.test(id)) {
    return reply.sendParts(`{"jsonrpc":"2.0","id":${id},"result":`, pieces, '}');
  }
  const head = beforeResult(id);
  if (rest === null) return reply.send(Buffer.concat([head, ...pieces, AFTER_RESULT]));
  return reply.send(Readable.from(streamed(visit, head, answer.body.bytes, rest), { objectMode: false }));
}

/** Its length is known when it is sent. */
async function* streamed(
  visit: Visit,
  head: Buffer,
  bytes: Buffer,
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  visit.bytes = head.length + bytes.length + AFTER_RESULT.length;
  yield head;
  yield bytes;
  for await (const piece of rest) {
    visit.bytes += piece.length;
    yield piece;
  }
  yield AFTER_RESULT;
}
