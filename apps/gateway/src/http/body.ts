import type { Exchange } from './exchange.js';
import { Problem, unavailable } from './problem.js';

/** Memory of a body without a Content-Length is reserved in steps of so many bytes. */
const STEP = 65_536;

/**
 * Reads the body of a request, of one media type and `limit` bytes at most; undefined if there is none. `reserve` is called
 * before that many bytes are kept. Fails with the problems `media-type-unsupported`, `body-too-large` and `unavailable`.
 * Calls neither `read` nor `failed` if the client disconnects.
 */
export function readBody(
  exchange: Exchange,
  { type: wanted, limit }: { type: string; limit: number },
  reserve: (exchange: Exchange, bytes: number) => boolean,
  read: (body: Buffer | undefined) => void,
  failed: (problem: Problem) => void,
): void {
  const { request } = exchange;
  const { headers } = request;
  const type = headers['content-type'];
  const length = headers['content-length'];
  if (type === undefined && (length === undefined || length === '0') && !headers['transfer-encoding']) {
    read(undefined);
    return;
  }
  if (type !== wanted && type?.split(';', 1)[0]?.trim().toLowerCase() !== wanted) {
    failed(
      new Problem('media-type-unsupported', {
        detail: `Send the body with the header content-type: ${wanted}.`,
        headers: { accept: wanted },
      }),
    );
    return;
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    failed(
      new Problem('media-type-unsupported', {
        detail: 'Send the body without a content-encoding.',
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
  if (length !== undefined && !reserve(exchange, Number(length))) {
    failed(unavailable(NO_ROOM));
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (more === REFUSED) return;
    if (bytes > limit) {
      more = REFUSED;
      failed(tooLarge(limit));
    } else if (length === undefined && !reserve(exchange, Math.min(limit, Math.ceil(bytes / STEP) * STEP))) {
      more = REFUSED;
      failed(unavailable(NO_ROOM));
    } else if (first === undefined) first = chunk;
    else if (more === undefined) more = [first, chunk];
    else more.push(chunk);
  });
  request.on('end', () => {
    if (more === REFUSED) return;
    read(more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more, bytes));
  });
}

const NO_ROOM = 'The memory for request bodies is full';

/** Marks a body that was refused while it came. */
const REFUSED: Buffer[] = [];

function tooLarge(limit: number): Problem {
  return new Problem('body-too-large', {
    detail: `A body may have ${limit} bytes.`,
    members: { limit },
    // The client may still be sending.
    headers: { connection: 'close' },
  });
}
