import { EventEmitter } from 'node:events';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { PlainHead } from './read-head.js';
import type { HttpRequest, HttpResponse } from './transport.js';

/** Of a field's value (RFC 9110, 5.5). */
const INVALID_VALUE = /[^\t -~\x80-\xff]/;
const LAST_CHUNK = '0\r\n\r\n';

/** A response on a plain connection. Emits `finish`, `close` and `drain` as node:http's does. */
export class PlainResponse extends EventEmitter implements HttpResponse {
  statusCode = 200;
  headersSent = false;
  destroyed = false;
  closed = false;
  writableFinished = false;
  /** The connection ends after it. */
  isLast: boolean;
  /** All of it was written. */
  ended = false;
  readonly #socket: Socket;
  /** Called once all was handed to the connection. */
  readonly #finished: () => void;
  readonly #keepAlive: string;
  /** The head, until it is written with the first part of the body. */
  #head = '';
  #chunked = false;
  /** Until the end of the turn. */
  #corked = false;

  constructor(socket: Socket, isLast: boolean, keepAlive: string, finished: () => void) {
    super();
    this.isLast = isLast;
    this.#socket = socket;
    this.#keepAlive = keepAlive;
    this.#finished = finished;
  }

  /** Throws an Error if a value could end its line. */
  writeHead(status: number, headers: readonly string[]): this {
    let length = false;
    let connection = this.isLast ? 'Connection: close\r\n' : this.#keepAlive;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] as string;
      const value = headers[at + 1] as string;
      if (INVALID_VALUE.test(value)) throw new Error(`The header ${name} has an invalid character.`);
      if (name === 'content-length') length = true;
      else if (name === 'connection') {
        connection = '';
        this.isLast ||= value.split(', ').includes('close');
      }
      head += `${name}: ${value}\r\n`;
    }
    this.statusCode = status;
    this.headersSent = true;
    this.#chunked = !length && status !== 204 && status !== 304;
    if (this.#chunked) head += 'transfer-encoding: chunked\r\n';
    this.#head = `${head}${getDateLine()}${connection}\r\n`;
    return this;
  }

  /** What is written in one turn is one write of the connection. */
  write(piece: Buffer | string, encoding: BufferEncoding = 'utf8'): boolean {
    const socket = this.#socket;
    if (!this.#corked) {
      this.#corked = true;
      socket.cork();
      process.nextTick(uncork, this);
    }
    const bytes = typeof piece === 'string' ? Buffer.from(piece, encoding) : piece;
    const isChunk = this.#chunked && bytes.length > 0;
    const before = isChunk ? `${this.#head}${bytes.length.toString(16)}\r\n` : this.#head;
    this.#head = '';
    if (before !== '') socket.write(before, 'latin1');
    socket.write(bytes);
    if (isChunk) socket.write('\r\n', 'latin1');
    return !socket.writableNeedDrain;
  }

  end(piece: Buffer | string = '', encoding: BufferEncoding = 'utf8'): this {
    const socket = this.#socket;
    if (this.ended || this.destroyed) return this;
    const isPlainText = typeof piece === 'string' && (encoding === 'latin1' || piece === '');
    if (this.#chunked || !isPlainText) this.write(piece, encoding);
    this.ended = true;
    const rest = this.#chunked ? LAST_CHUNK : isPlainText ? this.#head + piece : '';
    this.#head = '';
    if (rest !== '') socket.write(rest, 'latin1');
    this.flush();
    if (socket.writableLength === 0) this.#finish();
    // Behind everything else.
    else socket.write('', () => this.#finish());
    return this;
  }

  /** Hands over what was written in this turn. */
  flush(): void {
    if (!this.#corked) return;
    this.#corked = false;
    this.#socket.uncork();
  }

  /** Cuts the connection. */
  destroy(): this {
    this.destroyed = true;
    this.#socket.destroy();
    return this;
  }

  /** Ends it, because it is finished or the connection broke. */
  close(): void {
    if (this.closed) return;
    this.destroyed = true;
    this.closed = true;
    this.emit('close');
  }

  #finish(): void {
    if (this.closed) return;
    const { destroyed, errored } = this.#socket;
    if (!destroyed && errored === null) this.writableFinished = true;
    this.emit('finish');
    this.#finished();
  }
}

const uncork = (response: PlainResponse): void => response.flush();

let dateSecond = 0;
let dateLine = '';

/** Required of a server with a clock (RFC 9110, 6.6.1). */
function getDateLine(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateLine = `Date: ${new Date(second * 1_000).toUTCString()}\r\n`;
  }
  return dateLine;
}

/** Bytes of a body that are kept for a reader that is still to come. */
const MAX_KEPT = 65_536;

/** A request that was read from a plain connection. */
export class PlainRequest implements HttpRequest {
  readonly httpVersion = '1.1';
  readonly method: string;
  readonly url: string;
  readonly headers: PlainHead['headers'];
  readonly socket: Socket;
  complete: boolean;
  /** The response is over: nobody reads the rest. */
  #over = false;
  #kept: Buffer[] | undefined;
  #keptBytes = 0;
  #onData: ((chunk: Buffer) => void) | undefined;
  #onEnd: (() => void) | undefined;

  constructor({ method, url, headers, bodyLength }: PlainHead, socket: Socket) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.socket = socket;
    this.complete = bodyLength === 0;
  }

  /** One listener for each event; what arrived before is handed over when `end` has one. */
  on(event: 'data', listener: (chunk: Buffer) => void): this;
  on(event: 'end', listener: () => void): this;
  on(event: 'data' | 'end', listener: (chunk: Buffer) => void): this {
    if (event === 'data') {
      this.#onData = listener;
      return this;
    }
    this.#onEnd = listener as () => void;
    const kept = this.#kept;
    this.#kept = undefined;
    for (const chunk of kept ?? []) this.#onData?.(chunk);
    if (this.complete) this.#onEnd();
    else if (this.#keptBytes > MAX_KEPT) this.socket.resume();
    return this;
  }

  /** Takes a part of the body. */
  push(chunk: Buffer, isLast: boolean): void {
    this.complete = isLast;
    if (this.#over) return;
    if (this.#onEnd !== undefined) {
      this.#onData?.(chunk);
      if (isLast) this.#onEnd();
      return;
    }
    this.#kept ??= [];
    this.#kept.push(chunk);
    this.#keptBytes += chunk.length;
    if (!isLast && this.#keptBytes > MAX_KEPT) this.socket.pause();
  }

  /** Drops what comes of the body from now on. */
  drop(): void {
    this.#over = true;
    this.#kept = undefined;
    if (!this.complete) this.socket.resume();
  }
}
