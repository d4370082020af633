import { connect, type Socket } from 'node:net';
import { ResponseError, ResponseParser } from './response-parser.js';

/*
 * Connections over plain HTTP, for requests that are many or whose answers are large. undici copies each chunk of a body
 * into its parser's memory, and makes some ten objects for a request: here a block of 200 KB costs a third of the CPU, a
 * small call half. undici keeps TLS, proxies and nodes whose responses are not written as they should be.
 */

/** What a request consists of. */
interface PlainRequest {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The part of undici's controller that handlers use. */
interface Controller {
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** The part of undici's handlers that is called, in this order; an error once, in place of what is left. */
export interface PlainHandler {
  onRequestStart(controller: Controller): void;
  onResponseStart(
    controller: Controller,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller, error: Error): void;
}

interface PlainPoolOptions {
  url: URL;
  connections: number;
  connectTimeoutMs: number;
  /** Called when a node sent what is not read here: later requests should be sent by other means. */
  onUnreadable(): void;
}

/** An idle connection is closed after so long: most nodes do after 5 s or more. */
const MAX_IDLE_MS = 4_000;
/** So long before the time that the node names. */
const BEFORE_MS = 1_000;
const SWEEP_MS = 1_000;

/** Creates a pool; it connects when requests come. */
export function createPlainPool(options: PlainPoolOptions) {
  const { connections, connectTimeoutMs, onUnreadable, url } = options;
  const open = new Set<Connection>();
  const idle: Connection[] = [];
  const waiting: (readonly [PlainRequest, PlainHandler])[] = [];
  let isClosed = false;

  const next = (connection: Connection | null): void => {
    if (connection !== null) idle.push(connection);
    while (waiting.length > 0 && (idle.length > 0 || open.size < connections)) {
      const [request, handler] = waiting.shift() as (typeof waiting)[0];
      take().send(request, handler);
    }
  };
  const take = (): Connection => {
    const now = performance.now();
    for (let known = idle.pop(); known !== undefined; known = idle.pop()) {
      if (known.idleUntil > now) return known;
      known.close();
    }
    const made = new Connection({
      socket: connect({
        host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: Number(url.port || 80),
        noDelay: true,
        keepAlive: true,
      }),
      host: url.host,
      connectTimeoutMs,
      free: next,
      onUnreadable,
      gone: (connection) => {
        open.delete(connection);
        const at = idle.indexOf(connection);
        if (at !== -1) idle.splice(at, 1);
        if (!isClosed) next(null);
      },
    });
    open.add(made);
    return made;
  };
  const sweeper = setInterval(() => {
    const now = performance.now();
    for (const connection of [...idle]) if (connection.idleUntil <= now) connection.close();
  }, SWEEP_MS);
  sweeper.unref();

  return {
    /** Sends a POST when a connection is free. */
    dispatch(request: PlainRequest, handler: PlainHandler): void {
      if (isClosed) throw new Error('the pool is closed');
      if (idle.length > 0 || open.size < connections) take().send(request, handler);
      else waiting.push([request, handler]);
    },
    /** Closes every connection as soon as it is idle. */
    renew(): void {
      for (const connection of [...open]) connection.retire();
    },
    /** Closes every connection at once: what is under way fails. */
    destroy(): void {
      isClosed = true;
      clearInterval(sweeper);
      for (const connection of [...open]) connection.close();
      for (const [, handler] of waiting.splice(0))
        handler.onResponseError(new Exchange(handler, null, null), closedError());
    },
  };
}

interface ConnectionOptions {
  socket: Socket;
  host: string;
  connectTimeoutMs: number;
  free(connection: Connection): void;
  gone(connection: Connection): void;
  onUnreadable(): void;
}

/** A request on its connection, until its response has ended. */
class Exchange implements Controller {
  readonly handler: PlainHandler;
  socket: Socket | null;
  /** Set if it was ended before anything was sent. */
  early: Error | null = null;
  readonly #fail: ((error: Error) => void) | null;

  constructor(handler: PlainHandler, socket: Socket | null, fail: ((error: Error) => void) | null) {
    this.handler = handler;
    this.socket = socket;
    this.#fail = fail;
  }

  get paused(): boolean {
    return this.socket?.isPaused() === true;
  }

  pause(): void {
    this.socket?.pause();
  }

  resume(): void {
    this.socket?.resume();
  }

  abort(reason: Error): void {
    if (this.socket === null) this.early ??= reason;
    else this.#fail?.(reason);
  }
}

/** A connection, which serves one request at a time. */
class Connection {
  idleUntil = Number.POSITIVE_INFINITY;
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #parser: ResponseParser;
  #exchange: Exchange | null = null;
  #idleMs = MAX_IDLE_MS;
  #isLast = false;
  #isOver = false;

  constructor(options: ConnectionOptions) {
    const { socket } = options;
    this.#options = options;
    this.#socket = socket;
    this.#parser = new ResponseParser({
      head: (status, headers) => {
        const exchange = this.#exchange as Exchange;
        this.#idleMs = getIdleMs(headers['keep-alive']);
        exchange.handler.onResponseStart(exchange, status, headers);
      },
      data: (chunk) => {
        const exchange = this.#exchange as Exchange;
        exchange.handler.onResponseData(exchange, chunk);
      },
      end: (isLast) => this.#end(isLast),
    });
    const timer = setTimeout(() => {
      this.#fail(Object.assign(new Error('no connection in time'), { code: 'UND_ERR_CONNECT_TIMEOUT' }));
    }, options.connectTimeoutMs);
    socket.once('connect', () => clearTimeout(timer));
    socket.on('data', (bytes: Buffer) => this.#read(() => this.#parser.push(bytes)));
    socket.on('end', () => {
      this.#read(() => this.#parser.close());
      this.close();
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => {
      clearTimeout(timer);
      this.close();
      options.gone(this);
    });
  }

  send({ body, headers, path }: PlainRequest, handler: PlainHandler): void {
    const exchange = new Exchange(handler, null, (error) => this.#fail(error));
    handler.onRequestStart(exchange);
    if (exchange.early !== null) {
      handler.onResponseError(exchange, exchange.early);
      this.#options.free(this);
      return;
    }
    const socket = this.#socket;
    exchange.socket = socket;
    this.#exchange = exchange;
    const length = Buffer.byteLength(body);
    const head = `${writeHead(this.#options.host, path, headers)}content-length: ${length}\r\n\r\n`;
    if (length === body.length) socket.write(head + body, 'latin1');
    else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body, 'utf8');
      socket.uncork();
    }
  }

  /** Closes it when what is under way has ended. */
  retire(): void {
    this.#isLast = true;
    if (this.#exchange === null) this.close();
  }

  /** What is under way fails. */
  close(): void {
    this.#fail(closedError());
  }

  #read(read: () => void): void {
    if (this.#isOver) return;
    if (this.#exchange === null) {
      // Nothing was asked.
      this.close();
      return;
    }
    try {
      read();
    } catch (error) {
      if (!(error instanceof ResponseError)) throw error;
      this.#options.onUnreadable();
      this.#fail(error);
    }
  }

  #end(isLast: boolean): void {
    const { handler } = this.#exchange as Exchange;
    (this.#exchange as Exchange).socket = null;
    this.#exchange = null;
    const socket = this.#socket;
    if (socket.isPaused()) socket.resume();
    // A node that answers before it has read all of a request may not read the rest.
    const isUsable = !isLast && !this.#isLast && this.#idleMs > 0 && socket.writableLength === 0;
    if (!isUsable) this.close();
    handler.onResponseEnd();
    if (this.#isOver) return;
    this.idleUntil = performance.now() + this.#idleMs;
    this.#options.free(this);
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // It is among the idle ones until its socket has closed.
    this.idleUntil = 0;
    this.#parser.stop();
    this.#socket.destroy();
    const exchange = this.#exchange;
    this.#exchange = null;
    if (exchange === null) return;
    exchange.socket = null;
    exchange.handler.onResponseError(exchange, error);
  }
}

/** How long a connection may be idle, by the Keep-Alive header (RFC 2068, 19.7.1.1), which most servers still send. */
function getIdleMs(header: string | string[] | undefined): number {
  const seconds = header === undefined ? undefined : /timeout=(\d{1,6})/i.exec(String(header))?.[1];
  return seconds === undefined ? MAX_IDLE_MS : Math.min(MAX_IDLE_MS, Number(seconds) * 1_000 - BEFORE_MS);
}

/** With the code that undici has for it. */
function closedError(): Error {
  return Object.assign(new Error('the other side closed the connection'), { code: 'UND_ERR_SOCKET' });
}

const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Most requests have the same headers object. */
const known = new WeakMap<object, { key: string; text: string }>();

/** The head of a POST without the length of its body and the empty line. Throws for what cannot be in a head. */
function writeHead(host: string, path: string, headers: Readonly<Record<string, string>>): string {
  const before = known.get(headers);
  const key = `${host} ${path}`;
  if (before?.key === key) return before.text;
  if (!/^[\x21-\x7e]+$/.test(path)) throw new TypeError('a path has characters that no request may have');
  let text = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || !VALUE.test(value))
      throw new TypeError(`the header ${name} has characters that none may have`);
    text += `${name}: ${value}\r\n`;
  }
  known.set(headers, { key, text });
  return text;
}
