import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { PlainRequest, PlainResponse } from './plain-messages.js';
import { createHeadReader, type PlainHead } from './read-head.js';

/*
 * A connection is in one of these states:
 *
 *   idle       between two requests, or before the first; bytes that come are read as a head
 *      ▼
 *   busy       the server has the request; its body, if any, is passed on as it comes; what comes behind it waits
 *      ▼
 *   (over)     all of the answer was handed to the connection, and all of the body came → idle
 *
 * A head that is not plain is handed to node:http with the connection, which stays there.
 */

/** How a connection ends that is not at work. */
interface PlainLimits {
  /** The lines about the connection in the head of an answer behind which it stays open. */
  readonly keepAlive: string;
  /** Takes over a connection; the bytes that were read of it are in front of the others. */
  handOver(socket: Socket): void;
  /** Answers a request that took too long, and ends the connection. */
  refuseSlow(socket: Socket): void;
  /** Called once the connection is closed or handed over. */
  left(connection: PlainConnection): void;
}

/** Reads the requests of one connection, one after the other, and emits them as the server's `request`. */
class PlainConnection {
  readonly #socket: Socket;
  readonly #server: Server;
  readonly #limits: PlainLimits;
  readonly #readHead = createHeadReader();
  #request: PlainRequest | undefined;
  #response: PlainResponse | undefined;
  /** Bytes of the body that are still to come. */
  #bodyLeft = 0;
  /** What came behind the request under way. */
  #waiting: Buffer | undefined;
  /** A request is being emitted. */
  #emitting = false;
  #reading = false;
  /** When the request under way, or the time without one, began. */
  #since = performance.now();
  #served = 0;

  constructor(socket: Socket, server: Server, limits: PlainLimits) {
    this.#socket = socket;
    this.#server = server;
    this.#limits = limits;
    socket.setTimeout(server.timeout);
    socket.on('data', this.#onData).on('end', this.#onEnd).on('timeout', this.#onTimeout);
    socket.on('drain', this.#onDrain).on('error', ignore).on('close', this.#onClose);
  }

  /** No request is under way. */
  get isIdle(): boolean {
    return this.#request === undefined;
  }

  /** Cuts the connection. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Ends the connection if it has been waiting for bytes of its client for too long; `now` by `performance.now()`. */
  checkTime(now: number): void {
    const { headersTimeout, requestTimeout, keepAliveTimeout } = this.#server;
    const ms = now - this.#since;
    if (!this.isIdle) {
      if (this.#bodyLeft > 0 && ms > requestTimeout) this.#limits.refuseSlow(this.#socket);
    } else if (this.#served === 0) {
      if (ms > headersTimeout) this.#limits.refuseSlow(this.#socket);
    } else if (ms > keepAliveTimeout) this.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    let rest = chunk;
    if (this.#bodyLeft > 0) {
      const part = rest.length > this.#bodyLeft ? rest.subarray(0, this.#bodyLeft) : rest;
      rest = rest.subarray(part.length);
      this.#passOn(part);
      this.#endIfOver();
    }
    if (rest.length === 0) return;
    this.#waiting = this.#waiting === undefined ? rest : Buffer.concat([this.#waiting, rest]);
    if (this.isIdle) this.#readWaiting();
    else this.#socket.pause();
  };

  #passOn(part: Buffer): void {
    this.#bodyLeft -= part.length;
    this.#request?.push(part, this.#bodyLeft === 0);
  }

  /** Reads requests until one is under way or nothing waits. */
  #readWaiting(): void {
    if (this.#reading) return;
    this.#reading = true;
    while (this.#waiting !== undefined && this.isIdle && !this.#socket.destroyed) {
      const bytes = this.#waiting;
      const head = this.#readHead(bytes);
      if (head === null) {
        this.#handOver(bytes);
        break;
      }
      const body = bytes.subarray(head.byteLength, head.byteLength + head.bodyLength);
      const end = head.byteLength + body.length;
      this.#waiting = end < bytes.length ? bytes.subarray(end) : undefined;
      this.#emit(head, body);
    }
    this.#reading = false;
    if (this.#waiting !== undefined) this.#socket.pause();
  }

  #emit(head: PlainHead, body: Buffer): void {
    const request = new PlainRequest(head, this.#socket);
    const { keepAlive } = this.#limits;
    const response = new PlainResponse(this.#socket, head.isLast, keepAlive, this.#onFinished);
    this.#request = request;
    this.#response = response;
    this.#bodyLeft = head.bodyLength;
    this.#served += 1;
    this.#since = performance.now();
    if (body.length > 0) this.#passOn(body);
    this.#emitting = true;
    this.#server.emit('request', request as never, response as never);
    this.#emitting = false;
    if (response.ended) this.#endIfOver();
  }

  readonly #onFinished = (): void => {
    // Whoever ended the answer may have something left to do.
    if (!this.#emitting) process.nextTick(this.#endIfOver);
  };

  /** Ends the request under way if its answer is sent, and goes on behind its body. */
  readonly #endIfOver = (): void => {
    const [request, response] = [this.#request, this.#response];
    if (request === undefined || response?.writableFinished !== true) return;
    response.close();
    if (response.isLast) {
      this.#socket.destroySoon();
      return;
    }
    if (this.#bodyLeft > 0) {
      request.drop();
      return;
    }
    this.#request = undefined;
    this.#response = undefined;
    this.#since = performance.now();
    if (this.#reading) return;
    if (this.#socket.isPaused()) this.#socket.resume();
    if (this.#waiting !== undefined) this.#readWaiting();
  };

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    this.#waiting = undefined;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onTimeout);
    socket.off('drain', this.#onDrain).off('error', ignore).off('close', this.#onClose);
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(bytes);
    this.#limits.left(this);
    this.#limits.handOver(socket);
    socket.resume();
  }

  /** As node:http does: who ends its side has no use for an answer. */
  readonly #onEnd = (): void => void this.#socket.end();

  readonly #onDrain = (): void => void this.#response?.emit('drain');

  readonly #onTimeout = (): void => void this.#socket.destroy();

  readonly #onClose = (): void => {
    this.#limits.left(this);
    this.#response?.close();
  };
}

function ignore(): void {}

/** The plain connections of a server. */
export interface PlainConnections {
  closeIdle(): void;
  closeAll(): void;
}

/**
 * Has the plain requests of a server read here instead of by node:http, whose request, response and parser take two thirds
 * of the time of a small answer. Requests are emitted by the server as usual. Connections are handed to node:http with
 * their first request that is not plain. `refuseSlow` answers a request that took too long; `checkMs` is how often that
 * is looked for.
 */
export function servePlain(
  server: Server,
  { refuseSlow, checkMs }: { refuseSlow(socket: Socket): void; checkMs: number },
): PlainConnections {
  const open = new Set<PlainConnection>();
  const takers = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners('connection');
  const limits: PlainLimits = {
    keepAlive: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(server.keepAliveTimeout / 1_000)}\r\n`,
    handOver: (socket) => {
      for (const take of takers) take.call(server, socket);
    },
    refuseSlow,
    left: (connection) => void open.delete(connection),
  };
  server.on('connection', (socket: Socket) => void open.add(new PlainConnection(socket, server, limits)));
  const timer = setInterval(() => {
    const now = performance.now();
    for (const connection of open) connection.checkTime(now);
  }, checkMs);
  timer.unref();
  server.once('close', () => clearInterval(timer));
  return {
    closeIdle: () => {
      for (const connection of open) if (connection.isIdle) connection.destroy();
    },
    closeAll: () => {
      for (const connection of open) connection.destroy();
    },
  };
}
