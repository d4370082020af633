import type { ServerResponse } from 'node:http';
import type { Line } from './pacer.js';
import type { ServedText } from './served-chain.js';

/** How a text is sent. */
interface SendOptions {
  line?: Line | undefined;
  /** Send only this many bytes of what Content-Length promises. */
  cutAt?: number | undefined;
}

/** Writes a text behind headers that promise its whole length; resolves with the bytes that were written. */
export async function sendText(
  response: ServerResponse,
  text: ServedText,
  { line, cutAt = Number.POSITIVE_INFINITY }: SendOptions = {},
): Promise<number> {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.byteLength });
  if (text.release !== undefined) response.once('finish', () => text.release?.());
  let sent = 0;
  for (const piece of text.pieces()) {
    for (const chunk of chunks(piece.subarray(0, cutAt - sent), line?.chunkBytes)) {
      if (line !== undefined && !(await line.take(chunk.length))) return sent;
      if (response.destroyed) return sent;
      sent += chunk.length;
      const full = !response.write(chunk);
      // Without this wait an answer that is made while it is sent would pile up in memory.
      if (full && sent < text.byteLength) await drained(response);
    }
    if (sent >= cutAt) return sent;
  }
  response.end();
  return sent;
}

function* chunks(piece: Buffer, size = Number.POSITIVE_INFINITY): Generator<Buffer> {
  for (let at = 0; at < piece.length; at += size) yield piece.subarray(at, at + size);
}

/** Resolves once more may be written, or the connection is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (response.destroyed) done();
  });
}
