import type { Socket } from 'node:net';
import type { PlainHead } from './read-head.js';
import type { HttpRequest } from './transport.js';

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
