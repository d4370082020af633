import type { ServedText } from './served-chain.js';

/** The answer to a call. */
export type Answer = { result: ServedText } | { error: RpcFailure };

/** A JSON-RPC error object. */
interface RpcFailure {
  code: number;
  message: string;
}

/** A result that is small enough to be written on the spot. */
export function valueAnswer(value: unknown): Answer {
  const json = JSON.stringify(value);
  return { result: bufferText(Buffer.from(json)) };
}

/** A text that is one Buffer. */
export function bufferText(buffer: Buffer): ServedText {
  return { byteLength: buffer.length, pieces: () => [buffer] };
}

/** An error answer. */
export function failure(code: number, message: string): Answer {
  return { error: { code, message } };
}

const CLOSE = Buffer.from('}');

/** The response object around an answer, with its fields in geth's order. */
export function envelope(id: unknown, answer: Answer): ServedText {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},`;
  if ('error' in answer) return bufferText(Buffer.from(`${head}"error":${JSON.stringify(answer.error)}}`));
  return joinTexts([bufferText(Buffer.from(`${head}"result":`)), answer.result, bufferText(CLOSE)]);
}

/** The responses of a batch. */
export function batchEnvelope(responses: readonly ServedText[]): ServedText {
  const texts: ServedText[] = [bufferText(Buffer.from('['))];
  responses.forEach((response, at) => {
    if (at > 0) texts.push(bufferText(Buffer.from(',')));
    texts.push(response);
  });
  texts.push(bufferText(Buffer.from(']')));
  return joinTexts(texts);
}

function joinTexts(texts: readonly ServedText[]): ServedText {
  return {
    byteLength: texts.reduce((sum, text) => sum + text.byteLength, 0),
    *pieces() {
      for (const text of texts) yield* text.pieces();
    },
    release() {
      for (const text of texts) text.release?.();
    },
  };
}
