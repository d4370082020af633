import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import type { KeyRow } from '@packhouse/database';
import type { Clock } from '@packhouse/runtime';
import type { KeyCache } from '../auth/key-cache.js';
import type { GatewayParts } from '../routes/gateway-parts.js';
import { answerJsonRpc, refuseWhole } from '../routes/json-rpc.js';
import type { RpcSite } from '../rpc/method.js';
import type { RpcReply } from '../rpc/send-answer.js';
import { mayAsk } from './express-lane.js';
import type { RecordVisit } from './record-visit.js';
import { beginVisit, type Visit } from './visit.js';

export interface RpcLaneOptions {
  parts: GatewayParts;
  keys: KeyCache;
  clock: Clock;
  sites: readonly RpcSite[];
  record: RecordVisit;
  nextRequestId(): string;
  /** Requests are traced: the router's way has the spans. */
  tracing?: boolean;
}

/** Answers a request and calls `left` when it is over, or says false and leaves it as it was. */
export type RpcLane = (request: IncomingMessage, response: ServerResponse, left: () => void) => boolean;

/** `ph_`, eight characters, `_` and 43 more. An address that ends otherwise is the router's. */
const KEY_LENGTH = 55;
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;
/** Larger bodies are the router's; no single call needs as much. */
const MAX_BODY = 99_999;

/**
 * Makes the way past the router for JSON-RPC by a key in use: the same function answers it, with a request and a
 * reply that cost next to nothing, while routing, hooks, body parsing and serializing cost more than all the rest of
 * a call that is passed on. What is unknown, restricted or not plain is left to the router.
 */
export function createRpcLane(options: RpcLaneOptions): RpcLane {
  const { parts, keys, clock, record } = options;
  const paths = parts.sites.map(({ base }) => base.path);
  const sites = new Map(
    options.sites
      .filter(({ site }) => site.base.host === undefined && !site.network.rpc.open)
      // Where two networks share a path, the host name decides, and that is the router's to read.
      .filter(({ site }) => paths.filter((path) => path === site.base.path).length === 1)
      .map((at) => [at.site.base.path, at]),
  );

  return (request, response, left) => {
    if (request.method !== 'POST' || parts.draining() || options.tracing === true) return false;
    const { headers } = request;
    // A page in a browser is told who may read the answer.
    if (headers.origin !== undefined || headers['transfer-encoding'] !== undefined) return false;
    if (headers['content-encoding'] !== undefined || headers.expect !== undefined) return false;
    const length = Number(headers['content-length']);
    const type = headers['content-type'] ?? '';
    if (!(length > 0 && length <= MAX_BODY) || (type !== 'application/json' && !JSON_TYPE.test(type)))
      return false;
    const url = request.url ?? '';
    const slash = url.length - KEY_LENGTH - 1;
    // What needs decoding is the path of no network, and no key.
    const at = slash < 0 || url[slash] !== '/' ? undefined : sites.get(url.slice(0, slash));
    if (at === undefined) return false;
    const { id } = at.site.network;
    const key = keys.find(url.slice(slash + 1));
    // The router asks again, and says why not.
    if (key === null || key instanceof Promise || !mayAsk(key, id, clock.now())) return false;
    const visit = beginVisit();
    visit.route = 'rpc';
    visit.network = id;
    visit.prefix = key.prefix;

    const exchange = new LaneExchange(request, visit, key, options.nextRequestId);
    const reply = new LaneReply(response, visit);
    response.on('close', () => {
      record(visit, response, () => exchange.id);
      left();
    });
    const refuse = (error: unknown): unknown => refuseWhole(parts, at, exchange, reply, error);
    readBody(request, length, (body) => {
      exchange.body = body;
      try {
        const answered = answerJsonRpc(parts, at, exchange, reply);
        if (answered instanceof Promise) answered.catch(refuse);
      } catch (error) {
        refuse(error);
      }
    });
    return true;
  };
}

/** The server has counted the bytes: there are exactly so many, or the request breaks off and never ends. */
function readBody(request: IncomingMessage, length: number, done: (body: Buffer) => void): void {
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  request.on('data', (chunk: Buffer) => {
    if (first === undefined) first = chunk;
    else if (more === undefined) more = [first, chunk];
    else more.push(chunk);
  });
  request.on('end', () => done(more === undefined ? (first as Buffer) : Buffer.concat(more, length)));
}

class LaneExchange {
  readonly raw: IncomingMessage;
  readonly visit: Visit;
  rpcCaller: { key: KeyRow | undefined } | undefined;
  body: Buffer | undefined;
  readonly #nextId: () => string;
  #id: string | undefined;

  constructor(raw: IncomingMessage, visit: Visit, key: KeyRow, nextId: () => string) {
    this.raw = raw;
    this.visit = visit;
    this.rpcCaller = { key };
    this.#nextId = nextId;
  }

  get id(): string {
    this.#id ??= this.#nextId();
    return this.#id;
  }

  get ip(): string {
    return this.raw.socket.remoteAddress ?? '';
  }

  get headers(): IncomingMessage['headers'] {
    return this.raw.headers;
  }
}

/** Answers up to this size are sent as one text with their head: one write, and no piece of memory of its own. */
const ONE_WRITE = 16_384;

class LaneReply implements RpcReply {
  readonly raw: ServerResponse;
  readonly #visit: Visit;
  #status = 200;
  #headers: string[] = [];

  constructor(raw: ServerResponse, visit: Visit) {
    this.raw = raw;
    this.#visit = visit;
  }

  code(status: number): this {
    this.#status = status;
    return this;
  }

  header(name: string, value: string | number): this {
    this.#headers.push(name, String(value));
    return this;
  }

  type(contentType: string): this {
    return this.header('content-type', contentType);
  }

  send(body?: Buffer | Readable): this {
    const { raw } = this;
    if (body === undefined || Buffer.isBuffer(body)) {
      this.#begin(body?.length ?? 0);
      // A text of latin1 is sent together with its head, byte for byte.
      if (body === undefined) raw.end();
      else if (body.length <= ONE_WRITE) raw.end(body.toString('latin1'), 'latin1');
      else raw.end(body);
      return this;
    }
    raw.writeHead(this.#status, this.#headers);
    // A pipeline listens more than ten times.
    raw.setMaxListeners(0);
    // What breaks off in the middle ends the connection, which tells the client.
    pipeline(body, raw, () => undefined);
    return this;
  }

  sendParts(before: string, pieces: readonly Buffer[], after: string): this {
    const { raw } = this;
    let length = before.length + after.length;
    for (const piece of pieces) length += piece.length;
    this.#begin(length);
    if (length <= ONE_WRITE) {
      let text = before;
      for (const piece of pieces) text += piece.toString('latin1');
      raw.end(text + after, 'latin1');
      return this;
    }
    raw.cork();
    raw.write(before, 'latin1');
    for (const piece of pieces) raw.write(piece);
    raw.end(after, 'latin1');
    raw.uncork();
    return this;
  }

  #begin(length: number): void {
    if (this.#status !== 204) this.#headers.push('content-length', String(length));
    this.#visit.bytes = length;
    this.raw.writeHead(this.#status, this.#headers);
  }
}
