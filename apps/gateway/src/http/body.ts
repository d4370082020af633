import type { IncomingMessage } from 'node:http';
import { Problem } from './problem.js';

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

/**
 * Reads the JSON body of a request, of `limit` bytes at most; undefined if there is none. Fails with the problems
 * `media-type-unsupported` and `body-too-large`. Calls neither function if the client disconnects.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  read: (body: Buffer | undefined) => void,
  failed: (problem: Problem) => void,
): void {
  const { headers } = request;
  const type = headers['content-type'];
  const length = headers['content-length'];
  if (type === undefined && (length === undefined || length === '0') && !headers['transfer-encoding']) {
    read(undefined);
    return;
  }
  if (type !== 'application/json' && !JSON_TYPE.test(type ?? '')) {
    failed(
      new Problem('media-type-unsupported', {
        detail: 'A body is read with the header content-type: application/json only.',
        headers: { accept: 'application/json' },
      }),
    );
    return;
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    failed(
      new Problem('media-type-unsupported', {
        detail: 'A body is read as it is, without a content-encoding.',
        // RFC 9110, 15.5.16.
        headers: { 'accept-encoding': 'identity', connection: 'close' },
      }),
    );
    return;
  }
  if (length !== undefined && Number(length) > limit) {
    failed(tooLarge(limit));
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limit) {
      if (more !== TOO_MUCH) failed(tooLarge(limit));
      more = TOO_MUCH;
    } else if (first === undefined) first = chunk;
    else if (more === undefined) more = [first, chunk];
    else more.push(chunk);
  });
  request.on('end', () => {
    if (more === TOO_MUCH) return;
    read(more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more, bytes));
  });
}

/** Marks a body that was refused as too large. */
const TOO_MUCH: Buffer[] = [];

function tooLarge(limit: number): Problem {
  return new Problem('body-too-large', {
    detail: `A body has ${limit} bytes at most.`,
    members: { limit },
    // The client may still be sending.
    headers: { connection: 'close' },
  });
}
