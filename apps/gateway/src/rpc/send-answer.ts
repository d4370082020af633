import { Readable } from 'node:stream';
import type { Exchange } from '../http/exchange.js';
import { AFTER_RESULT, beforeResult, nodeErrorText } from './answer-text.js';
import { limitSending } from './limit-sending.js';
import type { RpcAnswer } from './method.js';

/** Smaller answers fit into what a connection buffers anyway. */
const HELD_BYTES = 65_536;
/** As many bytes as characters. */
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
  const pieces = answer.body.pieces ?? [answer.body.bytes];
  if (pieces.length > 1 || (pieces[0] as Buffer).length > HELD_BYTES) limitSending(exchange.response);
  if (rest === null && PLAIN_ID.test(id)) {
    exchange.sendParts(`{"jsonrpc":"2.0","id":${id},"result":`, pieces, '}');
    return;
  }
  const head = beforeResult(id);
  if (rest === null) exchange.sendBuffer(Buffer.concat([head, ...pieces, AFTER_RESULT]));
  else
    exchange.sendStream(
      Readable.from(streamed(exchange, head, answer.body.bytes, rest), { objectMode: false }),
    );
}

/** Its length is known when it is sent. */
async function* streamed(
  exchange: Exchange,
  head: Buffer,
  bytes: Buffer,
  rest: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  exchange.bytes = head.length + bytes.length + AFTER_RESULT.length;
  yield head;
  yield bytes;
  for await (const piece of rest) {
    exchange.bytes += piece.length;
    yield piece;
  }
  yield AFTER_RESULT;
}
