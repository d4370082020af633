import { pipeline } from 'node:stream';
import type { KeyRow } from '@packhouse/database';
import { addressBlock, CallController, type CallSignal, type Span } from '@packhouse/runtime';
import type { HttpRequest, HttpResponse } from '../plain-http/transport.js';
import { type Coding, type ContentCodings, MIN_CODED } from './content-coding.js';
import { FREE_BYTES, type Pacer, paced, type TakeTurn } from './paced-pieces.js';
import type { ProblemReason } from './problem.js';
import { sendBody } from './send-body.js';

/** The JSON-RPC calls of one request, for the log. */
export interface CallNotes {
  /** Number of calls; other than one only in a batch. */
  count: number;
  /** Names from the table of methods, each once, ten at most. */
  readonly methods: string[];
  /** Names of the upstreams that answered. */
  readonly upstreams: string[];
  /** JSON-RPC codes of the calls that failed, each once. */
  readonly codes: string[];
  /** Names of the methods of the calls that failed, one for each such call. */
  readonly failed: string[];
}

/** Empty notes for calls that are about to begin. */
export function beginCalls(): CallNotes {
  return { count: 0, methods: [], upstreams: [], codes: [], failed: [] };
}

/** Adds a name to a short list once. Lists, because creating three sets costs more than all other notes of a call. */
export function noteOnce(names: string[] | undefined, name: string): void {
  if (names !== undefined && !names.includes(name)) names.push(name);
}

/** The parts that all exchanges of a gateway share. */
export interface ExchangeParts {
  nextId(): string;
  /** The client's address, as far as the proxies before the gateway are trusted. */
  toAddress(request: HttpRequest): string;
  readonly codings: ContentCodings;
  readonly pacer: Pacer;
}

/** Answers up to this size are sent as one text with their head: one write, and no extra buffer. */
const ONE_WRITE = 16_384;

/** The content type of JSON answers other than JSON-RPC. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The content type of bundles, which are compressed already. */
export const GZIP_TYPE = 'application/gzip';

/** One shared error: its stack is never read, and capturing one for each abort costs time. */
const CLIENT_DISCONNECTED = new Error('the client went away');

/** One request with its answer and its facts for the log and the metrics: never the address, never the key. */
export class Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly startedAt = performance.now();
  /** Decoded parts of the path by their names in the route. */
  params: Readonly<Record<string, string | undefined>> = {};
  /** A repeated parameter is a list. */
  query: Readonly<Record<string, unknown>> = {};
  /** Absent if there is none, or before it is read. */
  body: Buffer | undefined;
  /** The caller, once known; absent if no key is needed. */
  key: KeyRow | undefined;
  /** The caller is known, and the request is not counted yet. */
  uncounted = false;
  /** Units that its calls cost. */
  units = 0;
  /** Units that were counted for its body. */
  chargedUnits = 0;
  /** Bytes that are reserved for its body, and for whom. */
  reserved = 0;
  reservedFor: number | string = '';
  /** What usage counts its bytes under: a method, a route, or `batch`; empty: the request was not counted. */
  counted = '';

  /** Name of the route; empty if there is none. */
  route = '';
  /** A network of the networks file; empty if there is none. */
  network = '';
  /** One of the kinds; empty if there is none. */
  kind = '';
  /** Public prefix of a key that exists; empty if there is none. */
  prefix = '';
  /** Length of the body as announced, or as streamed so far; compressed, if it is sent so. */
  bytes = 0;
  /** Bytes that the object store was left to send. */
  redirected = 0;
  /** Why it was refused, or cut off in its body; empty if it was not. */
  refusal: ProblemReason | '' = '';
  /** What its body failed with, so that the connection was cut; absent: nothing. */
  failure: unknown;
  /** Present only on the JSON-RPC route. */
  calls: CallNotes | undefined;
  /** Absent unless requests are traced. */
  span: Span | undefined;

  readonly #parts: ExchangeParts;
  #id: string | undefined;
  #status = 200;
  /** Name, value, name, value, …; names in lower case. */
  #headers: string[] = [];
  #whenSent: ((sent: boolean) => void)[] | undefined;
  #forPages = false;
  #abort: CallController | undefined;
  #turn: TakeTurn | undefined;
  /** Absent: not chosen yet; null: sent as it is. */
  #coding: Coding | null | undefined;

  constructor(request: HttpRequest, response: HttpResponse, parts: ExchangeParts) {
    this.request = request;
    this.response = response;
    this.#parts = parts;
  }

  /** The request's id, created on first use. */
  get id(): string {
    this.#id ??= this.#parts.nextId();
    return this.#id;
  }

  /** The client's address. */
  get ip(): string {
    return this.#parts.toAddress(this.request);
  }

  /** Whom its memory and its turns are counted for: the key, or the address of a client without one. */
  get owner(): number | string {
    return this.key?.id ?? addressBlock(this.ip);
  }

  /** Aborted when the response is over: the client has it, or is gone. Created on first use. */
  get signal(): CallSignal {
    if (this.#abort === undefined) {
      const made = new CallController();
      this.#abort = made;
      const leave = (): void => made.abort(CLIENT_DISCONNECTED);
      if (this.response.destroyed) leave();
      else this.response.on('close', leave);
    }
    return this.#abort;
  }

  /** Takes a turn for bytes that are about to be worked on; see Pacer. Most answers need none. */
  get turn(): TakeTurn {
    this.#turn ??= (bytes) => this.#parts.pacer.turn(this.owner, bytes, this.signal);
    return this.#turn;
  }

  /** The origin of the page that asks, if the client is a browser. */
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

  /** Adds an option to the Connection header; with `close`, the connection ends after this answer. */
  connection(option: 'close' | 'upgrade'): this {
    const at = this.#find('connection');
    const options = at === -1 ? '' : (this.#headers[at + 1] as string);
    if (options.split(', ').includes(option)) return this;
    return this.header('connection', options === '' ? option : `${options}, ${option}`);
  }

  hasHeader(name: string): boolean {
    return this.#find(name) !== -1;
  }

  removeHeader(name: string): void {
    const at = this.#find(name);
    if (at !== -1) this.#headers.splice(at, 2);
  }

  /**
   * Lets pages of all origins read the answer: the page must know the key, which is in the address or in a header, and
   * cookies are never used. A key restricted to some origins narrows it down (`allowOrigin`).
   */
  openToPages(): void {
    this.#forPages = true;
    this.header('access-control-allow-origin', '*').header('access-control-expose-headers', '*');
  }

  /** Sets the origin that may read the answer in a browser; null: none. */
  allowOrigin(origin: string | null): void {
    if (!this.#forPages) return;
    this.#vary('Origin');
    if (origin === null) this.removeHeader('access-control-allow-origin');
    else this.header('access-control-allow-origin', origin);
  }

  /**
   * The coding that an answer is compressed with, chosen once; null: none. `bytes`: its length as it is, Infinity if
   * unknown. The route asks before it sends only if the answer has an entity tag, which must differ by coding
   * (RFC 9110, 8.8.3.3).
   */
  coding(bytes: number): Coding | null {
    if (this.#coding !== undefined) return this.#coding;
    const accepted = this.request.headers['accept-encoding'];
    // Most answers are small.
    if (bytes < MIN_CODED && accepted === undefined) return null;
    const type = this.#find('content-type');
    if (type !== -1 && this.#headers[type + 1] === GZIP_TYPE) return null;
    this.#coding = this.#parts.codings.choose(accepted, bytes);
    if (bytes >= MIN_CODED || this.#coding !== null) this.#vary('accept-encoding');
    return this.#coding;
  }

  /** The answer is sent as it is: one that is open for long would hold the memory of its compression. */
  uncompressed(): this {
    this.#coding = null;
    return this;
  }

  sendJson(value: unknown): void {
    this.sendText(JSON.stringify(value), JSON_TYPE);
  }

  sendText(text: string, contentType: string): void {
    this.header('content-type', contentType);
    this.#send([Buffer.byteLength(text) === text.length ? text : Buffer.from(text)]);
  }

  sendBuffer(body: Buffer): void {
    this.#send([body]);
  }

  /** Sends bytes between two latin1 texts without joining them. */
  sendParts(before: string, pieces: readonly Buffer[], after: string): void {
    this.#send([before, ...pieces, after]);
  }

  /** Sends bytes and latin1 texts; a small body as one text, which is written together with the head. */
  #send(pieces: readonly (Buffer | string)[]): void {
    const { response } = this;
    let length = 0;
    for (const piece of pieces) length += piece.length;
    const coding = this.coding(length);
    if (coding === null) this.#begin(length);
    if (coding === null && length <= FREE_BYTES) {
      if (length <= ONE_WRITE) response.end(toLatin1(pieces), 'latin1');
      else {
        for (const piece of pieces) response.write(piece, 'latin1');
        response.end();
      }
      return;
    }
    const bytes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece));
    if (coding === null) void sendBody(this, paced(bytes, this.turn), length);
    else this.#sendCoded(bytes, false);
  }

  /** Sends the head alone. */
  sendNothing(): void {
    if (this.#status === 204 || this.#status === 304 || this.request.method === 'HEAD') {
      if (this.#status === 200 && this.#coding != null) this.header('content-encoding', this.#coding);
      this.response.writeHead(this.#status, this.#headers);
    } else this.#begin(0);
    this.response.end();
  }

  /**
   * Streams a body at the pace of its reader. If it fails midway, or has another length than the header content-length
   * says, the connection is closed, so that the client notices.
   * `inTurn`: its pieces have waited for their turns.
   */
  sendStream(body: AsyncIterable<Buffer | string>, inTurn = false): void {
    if (this.coding(Number.POSITIVE_INFINITY) !== null) {
      this.#sendCoded(body, true);
      return;
    }
    const length = this.#find('content-length');
    const bytes = length === -1 ? undefined : Number(this.#headers[length + 1]);
    this.bytes = bytes ?? 0;
    this.response.writeHead(this.#status, this.#headers);
    void sendBody(this, inTurn ? body : paced(body, this.turn), bytes);
  }

  /** Compresses a body while it is sent, at the pace of its reader. */
  #sendCoded(body: Iterable<Buffer> | AsyncIterable<Buffer | string>, streamed: boolean): void {
    const { response } = this;
    const coding = this.#coding as Coding;
    this.header('content-encoding', coding);
    response.writeHead(this.#status, this.#headers);
    if (this.request.method === 'HEAD') {
      response.end();
      return;
    }
    const encoder = this.#parts.codings.open(coding, streamed);
    // What fails there ends the reading here.
    pipeline(paced(body, this.turn), encoder, () => undefined);
    void sendBody(this, encoder);
  }

  #vary(name: string): void {
    const at = this.#find('vary');
    const varies = this.#headers[at + 1];
    if (at === -1) this.header('vary', name);
    else if (!varies?.split(', ').includes(name)) this.header('vary', `${varies}, ${name}`);
  }

  /**
   * Calls `then` once, when the exchange is over: with true if the whole answer was handed to the connection, with
   * false if the connection broke before.
   */
  whenSent(then: (sent: boolean) => void): void {
    const { response } = this;
    const { socket } = this.request;
    if (response.destroyed) {
      then(false);
      return;
    }
    if (this.#whenSent !== undefined) {
      this.#whenSent.push(then);
      return;
    }
    const all = [then];
    this.#whenSent = all;
    let sent = false;
    // Node emits `finish` for a failed last write too.
    response.once('finish', () => {
      sent = !socket.destroyed && socket.errored === null;
    });
    response.once('close', () => {
      for (const each of all) each(sent);
    });
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

function toLatin1(pieces: readonly (Buffer | string)[]): string {
  let text = '';
  for (const piece of pieces) text += typeof piece === 'string' ? piece : piece.toString('latin1');
  return text;
}
