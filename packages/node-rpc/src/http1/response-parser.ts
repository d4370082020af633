/*
 * Reads HTTP/1.1 responses (RFC 9112) as they come, and passes their bodies on as the socket sent them:
 *
 *   HEAD ──▶ LENGTH ─────────────────────────────▶ end
 *     │ └──▶ SIZE ──▶ CHUNK ──▶ BEHIND ─┐
 *     │       ▲──────────────────────────┤
 *     │                        TRAILERS ◀┘ size 0 ─▶ end
 *     └────▶ CLOSE ─────────────── end of the connection
 *
 * Only what RFC 9112 writes as it should be is read: no bare line feeds, no folded lines, no body with two lengths.
 * Whatever else a node sends is an error; see plain-pool.ts.
 */

const [HEAD, LENGTH, SIZE, CHUNK, BEHIND, TRAILERS, CLOSE] = [0, 1, 2, 3, 4, 5, 6];
const [CR, LF] = [0x0d, 0x0a];

/** Bytes of a head, or of the trailers. */
const MAX_HEAD_BYTES = 16_384;
/** Bytes of the line with the size of a chunk. */
const MAX_LINE_BYTES = 1_024;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const NOTHING: Buffer = Buffer.alloc(0);

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;
const DIGITS = /^[0-9]{1,15}$/;
const CHUNK_SIZE = /^([0-9a-fA-F]{1,12})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/;

export type Headers = Readonly<Record<string, string | string[]>>;

/** What a response consists of, in this order. */
interface ResponseEvents {
  /** Its head; names in lower case. */
  head(status: number, headers: Headers): void;
  /** A part of its body: a view of what was pushed. */
  data(chunk: Buffer): void;
  /** `isLast`: the connection cannot be used again. */
  end(isLast: boolean): void;
}

/** A response that is not written as it should be. Its code is that of an HTTP parser: see upstream/meanings.ts. */
export class ResponseError extends Error {
  readonly code = 'HPE_UNREADABLE';
}

/** Reads the responses of one connection, one after the other. */
export class ResponseParser {
  readonly #events: ResponseEvents;
  #state = HEAD;
  /** Bytes of a head or a line that is not complete. */
  #held: Buffer = NOTHING;
  /** Bytes that are left of the body or chunk. */
  #left = 0;
  #trailerBytes = 0;
  #isLast = false;
  #ended = false;
  #stopped = false;

  constructor(events: ResponseEvents) {
    this.#events = events;
  }

  /** Reads no more: nothing that comes is reported. */
  stop(): void {
    this.#stopped = true;
  }

  /** Takes the next bytes. What comes behind a response belongs to none, and makes it the last. Throws ResponseError. */
  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#ended && !this.#stopped) {
      const state = this.#state;
      if (state === LENGTH || state === CHUNK) at = this.#pushBody(bytes, at);
      else if (state === BEHIND) at = this.#pushBehind(bytes, at);
      else if (state === HEAD) at = this.#pushHead(bytes, at);
      else if (state === CLOSE) {
        this.#events.data(at === 0 ? bytes : bytes.subarray(at));
        return;
      } else at = this.#pushLine(bytes, at);
    }
    if (this.#ended) this.#end(at < bytes.length);
  }

  /** Takes the end of the connection, which ends a response without a length. Returns whether none is under way. */
  close(): boolean {
    if (this.#state === CLOSE) this.#end(true);
    return this.#state === HEAD && this.#held.length === 0;
  }

  #pushBody(bytes: Buffer, at: number): number {
    const to = Math.min(bytes.length, at + this.#left);
    this.#left -= to - at;
    if (this.#left === 0) {
      if (this.#state === LENGTH) this.#ended = true;
      else this.#state = BEHIND;
    }
    this.#events.data(at === 0 && to === bytes.length ? bytes : bytes.subarray(at, to));
    return to;
  }

  /** The line end behind a chunk. */
  #pushBehind(bytes: Buffer, at: number): number {
    if (this.#held.length === 0 && bytes[at] === CR) {
      this.#held = bytes.subarray(at, at + 1);
      return at + 1;
    }
    if (this.#held.length === 0 || bytes[at] !== LF)
      throw new ResponseError('a chunk is longer than its size');
    this.#held = NOTHING;
    this.#state = SIZE;
    return at + 1;
  }

  #pushHead(bytes: Buffer, at: number): number {
    const before = this.#held.length;
    const all = before === 0 ? bytes.subarray(at) : Buffer.concat([this.#held, bytes.subarray(at)]);
    const end = all.indexOf(END_OF_HEAD, Math.max(0, before - 3));
    if (Math.max(end, end === -1 ? all.length : 0) > MAX_HEAD_BYTES)
      throw new ResponseError('the head is too large');
    if (end === -1) {
      this.#held = all;
      return bytes.length;
    }
    this.#held = NOTHING;
    this.#readHead(all.toString('latin1', 0, end));
    return at + end + END_OF_HEAD.length - before;
  }

  /** A line with the size of a chunk, or of the trailers. */
  #pushLine(bytes: Buffer, at: number): number {
    const lf = bytes.indexOf(LF, at);
    const to = lf === -1 ? bytes.length : lf + 1;
    const line = Buffer.concat([this.#held, bytes.subarray(at, to)]);
    if (line.length > MAX_LINE_BYTES) throw new ResponseError('a line is too long');
    this.#held = lf === -1 ? line : NOTHING;
    if (lf === -1) return to;
    const text = line.toString('latin1', 0, line.length - 1);
    if (!text.endsWith('\r')) throw new ResponseError('a line does not end as it should');
    this.#readLine(text.slice(0, -1));
    return to;
  }

  #readLine(line: string): void {
    if (this.#state === SIZE) {
      const size = CHUNK_SIZE.exec(line)?.[1];
      if (size === undefined) throw new ResponseError('a chunk has no size');
      this.#left = Number.parseInt(size, 16);
      this.#state = this.#left === 0 ? TRAILERS : CHUNK;
      this.#trailerBytes = 0;
      return;
    }
    this.#trailerBytes += line.length;
    if (line === '') this.#ended = true;
    else if (!HEADER.test(line)) throw new ResponseError('a trailer is no header');
    else if (this.#trailerBytes > MAX_HEAD_BYTES) throw new ResponseError('the trailers are too large');
  }

  #readHead(text: string): void {
    const [first = '', ...lines] = text.split('\r\n');
    const [, minor, code] = STATUS_LINE.exec(first) ?? [];
    if (code === undefined) throw new ResponseError('it is no HTTP/1.1');
    const headers = readHeaders(lines);
    const status = Number(code);
    // Others than these may come before the response (RFC 9110, 15.2).
    if (status === 100 || status === 101) throw new ResponseError('it goes on as nobody asked for');
    if (status < 200) return;
    const length = headers['content-length'];
    const coding = headers['transfer-encoding'];
    this.#isLast = minor === '0' || isClosing(headers.connection);
    if (
      coding !== undefined &&
      (minor === '0' || length !== undefined || !/^chunked$/i.test(String(coding)))
    ) {
      throw new ResponseError('the length of the body is not certain');
    }
    if (length !== undefined && !(typeof length === 'string' && DIGITS.test(length))) {
      throw new ResponseError('the length of the body is no number');
    }
    const isEmpty = status === 204 || status === 304;
    if (isEmpty && (coding !== undefined || Number(length ?? 0) > 0)) {
      throw new ResponseError(`a status ${status} has no body`);
    }
    this.#left = Number(length ?? 0);
    if (coding !== undefined) this.#state = SIZE;
    else this.#state = length === undefined && !isEmpty ? CLOSE : LENGTH;
    this.#ended = this.#state === LENGTH && this.#left === 0;
    this.#events.head(status, headers);
  }

  #end(isLast: boolean): void {
    this.#state = HEAD;
    this.#ended = false;
    if (!this.#stopped) this.#events.end(isLast || this.#isLast);
  }
}

function readHeaders(lines: readonly string[]): Headers {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (const line of lines) {
    const [, written, value] = HEADER.exec(line) ?? [];
    if (written === undefined || value === undefined) throw new ResponseError('a header is none');
    const name = written.toLowerCase();
    const before = headers[name];
    const text = value.trimEnd();
    headers[name] = before === undefined ? text : [before, text].flat();
  }
  return headers;
}

function isClosing(connection: string | string[] | undefined): boolean {
  return connection !== undefined && /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test([connection].flat().join(','));
}
