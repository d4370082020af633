import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import type { KeyRow } from '@packhouse/database';
import type { Span } from '@packhouse/runtime';
import type { ProblemReason } from './problem.js';

/** What one request called over JSON-RPC, for the log. */
export interface CallNotes {
  /** Calls in it; more than one, or none, only in a batch. */
  count: number;
  /** Names out of the table of methods, each once, ten at most. */
  readonly methods: string[];
  /** Names of the upstreams that answered. */
  readonly upstreams: string[];
  /** JSON-RPC codes of what failed, each once. */
  readonly codes: string[];
}

/** Notes of calls that are about to be made. */
export function beginCalls(): CallNotes {
  return { count: 0, methods: [], upstreams: [], codes: [] };
}

/** Adds a name to a short list, once: making three sets costs more than all else that a call is noted with. */
export function noteOnce(names: string[] | undefined, name: string): void {
  if (names !== undefined && !names.includes(name)) names.push(name);
}

/** What all exchanges of a gateway share. */
export interface ExchangeParts {
  nextId(): string;
  /** The client's address, as far as the proxies before the gateway are trusted. */
  addressOf(request: IncomingMessage): string;
}

/** Answers up to this size are sent as one text with their head: one write, and no buffer of its own. */
const ONE_WRITE = 16_384;

/** One request with its answer, and what the log and the metrics say of it: never the address, never the key. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedAt = performance.now();
  /** Decoded parts of the path, by their names in the route. */
  params: Readonly<Record<string, string | undefined>> = {};
  /** A parameter that is given several times is a list. */
  query: Readonly<Record<string, unknown>> = {};
  /** Absent when there was none, or before it was read. */
  body: Buffer | undefined;
  /** Who asks, once that is known; absent where no key is needed. */
  key: KeyRow | undefined;
  /** The caller is known, and the request was not counted yet. */
  uncounted = false;

  /** Name of the route; empty where there is none. */
  route = '';
  /** A network of the networks file; empty where there is none. */
  network = '';
  /** One of the kinds; empty where there is none. */
  kind = '';
  /** Public prefix of a key that exists; empty where there is none. */
  prefix = '';
  /** Length of the body that was promised, or of what was streamed. */
  bytes = 0;
  /** Why it was refused; empty if it was not. */
  refusal: ProblemReason | '' = '';
  /** Absent on all routes but JSON-RPC. */
  calls: CallNotes | undefined;
  /** Absent unless requests are traced. */
  span: Span | undefined;

  readonly #parts: ExchangeParts;
  #id: string | undefined;
  #status = 200;
  /** Name, value, name, value, … with names in lower case. */
  #headers: string[] = [];
  #forPages = false;

  constructor(request: IncomingMessage, response: ServerResponse, parts: ExchangeParts) {
    this.request = request;
    this.response = response;
    this.#parts = parts;
  }

  /** The request's id, made when it is first asked for. */
  get id(): string {
    this.#id ??= this.#parts.nextId();
    return this.#id;
  }

  /** The client's address. */
  get ip(): string {
    return this.#parts.addressOf(this.request);
  }

  /** The page that asks, if it is a browser. */
  get origin(): string | undefined {
    return this.request.headers.origin;
  }

  /** The path as it was sent, without the query. */
  get path(): string {
    const url = this.request.url ?? '';
    const end = url.indexOf('?');
    return end === -1 ? url : url.slice(0, end);
  }

  /** A part of the path; empty if the route has none of this name. */
  param(name: string): string {
    return this.params[name] ?? '';
  }

  status(code: number): this {
    this.#status = code;
    return this;
  }

  header(name: string, value: string | number): this {
    const at = this.#find(name);
    if (at === -1) this.#headers.push(name, String(value));
    else this.#headers[at + 1] = String(value);
    return this;
  }

  hasHeader(name: string): boolean {
    return this.#find(name) !== -1;
  }

  removeHeader(name: string): void {
    const at = this.#find(name);
    if (at !== -1) this.#headers.splice(at, 2);
  }

  /**
   * Lets pages of all origins read the answer: the key is in the address or in a header that the page has to know, and
   * no cookies are looked at. A key with origins of its own narrows it down (`allowOrigin`).
   */
  openToPages(): void {
    this.#forPages = true;
    this.header('access-control-allow-origin', '*').header('access-control-expose-headers', '*');
  }

  /** Tells a browser which origin may read the answer; null: none. */
  allowOrigin(origin: string | null): void {
    if (!this.#forPages) return;
    this.header('vary', 'Origin');
    if (origin === null) this.removeHeader('access-control-allow-origin');
    else this.header('access-control-allow-origin', origin);
  }

  sendJson(value: unknown): void {
    this.sendText(JSON.stringify(value), 'application/json; charset=utf-8');
  }

  sendText(text: string, contentType: string): void {
    const length = Buffer.byteLength(text);
    this.header('content-type', contentType);
    this.#begin(length);
    // Latin1 is written byte for byte, together with the head.
    this.response.end(text, length === text.length ? 'latin1' : 'utf8');
  }

  /** Sends the head alone. */
  sendNothing(): void {
    if (this.#status === 204 || this.#status === 304 || this.request.method === 'HEAD') {
      this.response.writeHead(this.#status, this.#headers);
    } else this.#begin(0);
    this.response.end();
  }

  sendBuffer(body: Buffer): void {
    this.#begin(body.length);
    if (body.length <= ONE_WRITE) this.response.end(body.toString('latin1'), 'latin1');
    else this.response.end(body);
  }

  /** Sends bytes between two texts of latin1 without joining them. */
  sendParts(before: string, pieces: readonly Buffer[], after: string): void {
    const { response } = this;
    let length = before.length + after.length;
    for (const piece of pieces) length += piece.length;
    this.#begin(length);
    if (length <= ONE_WRITE) {
      let text = before;
      for (const piece of pieces) text += piece.toString('latin1');
      response.end(text + after, 'latin1');
      return;
    }
    response.cork();
    response.write(before, 'latin1');
    for (const piece of pieces) response.write(piece);
    response.end(after, 'latin1');
    response.uncork();
  }

  /** Sends what is read; if it breaks off in the middle, the connection ends, which tells the client. */
  sendStream(body: Readable): void {
    const { response } = this;
    const length = this.#find('content-length');
    if (length !== -1) this.bytes = Number(this.#headers[length + 1]);
    response.writeHead(this.#status, this.#headers);
    // A pipeline listens more than ten times.
    response.setMaxListeners(0);
    pipeline(body, response, () => undefined);
  }

  #begin(length: number): void {
    this.#headers.push('content-length', String(length));
    this.bytes = length;
    this.response.writeHead(this.#status, this.#headers);
  }

  #find(name: string): number {
    const headers = this.#headers;
    for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return at;
    return -1;
  }
}
