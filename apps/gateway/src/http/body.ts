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

/** Counts the bodies of requests, from before they are read until the requests are answered. */
export type BodyMemory = ReturnType<typeof createBodyMemory>;

/** Owners that are kept with nothing reserved: adding and deleting one for each request costs as much as its parsing. */
const KEPT_OWNERS = 1_000;
/** An owner has this part of the memory at most. */
const SHARE = 1 / 4;

/**
 * Creates a memory of `maxBytes`. The only body of an owner may be larger than its share, and the only one of all larger
 * than the memory, so that every body that is allowed has a turn.
 */
export function createBodyMemory(maxBytes: number) {
  const share = maxBytes * SHARE;
  const reserved = new Map<number | string, number>();
  let all = 0;
  return {
    /**
     * Reserves so many more bytes for a body, of which `already` are reserved. Its owner is the id of a key, or an address.
     * False: there is no room.
     */
    reserve(owner: number | string, bytes: number, already: number): boolean {
      const mine = reserved.get(owner) ?? 0;
      const fits =
        (all === already || all + bytes <= maxBytes) && (mine === already || mine + bytes <= share);
      if (!fits) return false;
      all += bytes;
      reserved.set(owner, mine + bytes);
      return true;
    },
    release(owner: number | string, bytes: number): void {
      all -= bytes;
      const left = (reserved.get(owner) ?? 0) - bytes;
      if (left > 0 || reserved.size <= KEPT_OWNERS) reserved.set(owner, left);
      else reserved.delete(owner);
    },
    get bytes(): number {
      return all;
    },
  };
}
