import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Upstream } from '@packhouse/networks';
import { namesProxy } from '@packhouse/runtime';
import { EnvHttpProxyAgent, Pool } from 'undici';
import { createPlainPool, type PlainHandler } from '../http1/plain-pool.js';
import { createRequestIds } from './request-ids.js';

/** An answer whose body was read whole, or one beyond the limit whose rest the caller may read. */
export interface HttpAnswer {
  status: number;
  /** The Retry-After header as sent. */
  retryAfter: string | undefined;
  location: string | undefined;
  body:
    | { whole: true; bytes: Buffer }
    | { whole: false; start: Buffer[]; startBytes: number; rest: BodyRest };
}

/** The rest of a body on its socket; read only on demand. */
export interface BodyRest {
  next(): Promise<Buffer | null>;
  /** Closes the connection. */
  destroy(): void;
}

/** The connections to one upstream: kept alive, one request at a time each, redirects not followed. */
export type UpstreamHttp = ReturnType<typeof createHttp>;

interface PostOptions {
  signal: AbortSignal;
  maxBytes: number;
  /** Called with the size of every piece; a promise stops the reading until it resolves. */
  came?: (bytes: number) => Promise<void> | undefined;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** A body may take this many idle timeouts in all, so that a trickle of bytes ends. */
const DEADLINE_FACTOR = 10;

export interface HttpOptions extends ConnectOptions {
  upstream: Upstream;
}

interface ConnectOptions {
  upstream: Pick<Upstream, 'url' | 'headers'>;
  /** To the first byte of an answer, and between two, in milliseconds; 0 if every request has a signal that ends it. */
  timeoutMs: number;
  /** Default: as many as there are requests at a time. */
  connections?: number;
  /** Default 10 s, or `timeoutMs` if that is less. */
  connectTimeoutMs?: number;
}

/** Through the proxies of HTTPS_PROXY, HTTP_PROXY and NO_PROXY if there are any; without them no request asks for one. */
function openPool(origin: string, options: Pool.Options) {
  const open = () => (namesProxy(process.env) ? new EnvHttpProxyAgent(options) : new Pool(origin, options));
  let pool = open();
  /** Those whose requests under way are the last. */
  const ending = new Set<typeof pool>();
  return {
    current: () => pool,
    renew(): void {
      const before = pool;
      pool = open();
      ending.add(before);
      const forget = (): void => void ending.delete(before);
      before.close().then(forget, forget);
    },
    async destroy(): Promise<void> {
      await Promise.all([pool, ...ending].map((each) => each.destroy()));
    },
  };
}

/** Connections without TLS and proxies, until the node sends what they cannot read; undefined: there are none. */
function openPlain({ connections, connectTimeoutMs = CONNECT_TIMEOUT_MS }: ConnectOptions, url: URL) {
  if (url.protocol !== 'http:' || connections === undefined || namesProxy(process.env)) return undefined;
  let isReadable = true;
  const onUnreadable = (): void => {
    isReadable = false;
  };
  const pool = createPlainPool({ url, connections, connectTimeoutMs, onUnreadable });
  return { pool, current: () => (isReadable ? pool : null) };
}

/** Opens the connections; nothing is sent yet. Calls of clients use `dispatch`: see forward/send/post-call.ts. */
export function createHttp(options: ConnectOptions) {
  const { connections, connectTimeoutMs, timeoutMs, upstream } = options;
  const { headers: credentials, url } = withCredentials(upstream.url, upstream.headers);
  const { origin } = url;
  const pool = openPool(origin, {
    ...(connections !== undefined && { connections }),
    pipelining: 1,
    connect: { timeout: connectTimeoutMs ?? Math.min(timeoutMs, CONNECT_TIMEOUT_MS) },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const path = `${url.pathname}${url.search}`;
  const plain = openPlain(options, url);
  const headers = { 'content-type': 'application/json', accept: 'application/json', ...credentials };
  const encoding = createEncodingChoice(url.hostname);

  return {
    hostname: url.hostname,
    /** Whether it is reached without TLS. */
    isPlain: url.protocol === 'http:',
    /** Sends a POST whose answer the handler reads as it comes. Throws if the headers cannot be sent. */
    dispatch: (
      request: { headers: Readonly<Record<string, string>>; body: string },
      handler: PlainHandler,
    ): void => {
      const pooled = plain?.current();
      if (pooled != null) pooled.dispatch({ path, ...request }, handler);
      else pool.current().dispatch({ origin, path, method: 'POST', ...request }, handler);
    },
    /** Returns the first of so many successive ids for requests: see createRequestIds. */
    takeIds: createRequestIds(),
    /**
     * Sends what is asked from now on over new connections, and closes the others as soon as they are idle: one of them had
     * an answer to another request, and has more of them.
     */
    renew: (): void => {
      plain?.pool.renew();
      pool.renew();
    },
    /** Headers of every request, credentials included; names in lower case. */
    headers: headers as Readonly<Record<string, string>>,
    /** Sends a POST. Throws the connection's error, and the signal's reason when aborted. */
    post: async (body: string, { signal, maxBytes, came }: PostOptions): Promise<HttpAnswer> => {
      const startedAt = performance.now();
      const asked = encoding.next();
      const response = await pool.current().request({
        origin,
        path,
        method: 'POST',
        headers: { ...headers, 'accept-encoding': asked },
        body,
        signal,
      });
      const gzip = response.headers['content-encoding'] === 'gzip';
      const rest = toRest(response.body, gzip);
      const head = {
        status: response.statusCode,
        retryAfter: single(response.headers['retry-after']),
        location: single(response.headers.location),
      };
      const chunks: Buffer[] = [];
      let bytes = 0;
      let deadline = startedAt + timeoutMs * DEADLINE_FACTOR;
      try {
        for (;;) {
          if (bytes > maxBytes)
            return { ...head, body: { whole: false, start: chunks, startBytes: bytes, rest } };
          const chunk = await rest.next();
          if (chunk === null) break;
          chunks.push(chunk);
          bytes += chunk.length;
          const room = came?.(chunk.length);
          if (room !== undefined) {
            const pausedAt = performance.now();
            await room;
            deadline += performance.now() - pausedAt;
          }
          if (performance.now() > deadline) throw new BodyDeadlineError();
        }
      } catch (error) {
        rest.destroy();
        throw error;
      }
      encoding.note(gzip ? 'gzip' : 'identity', bytes, performance.now() - startedAt);
      const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes);
      return { ...head, body: { whole: true, bytes: whole } };
    },
    /** Closes every connection at once. */
    destroy: (): Promise<void> => {
      plain?.pool.destroy();
      return pool.destroy();
    },
  };
}

function toRest(body: Readable, gzip: boolean): BodyRest {
  const stream: Readable = gzip ? pipeline(body, createGunzip(), () => undefined) : body;
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  return {
    next: async () => {
      const step = await iterator.next();
      return step.done === true ? null : step.value;
    },
    destroy: () => {
      stream.once('error', () => undefined);
      stream.destroy();
      if (gzip) body.once('error', () => undefined).destroy();
    },
  };
}

/** The address without the credentials before its host, which become a header, and the other headers. */
export function withCredentials(
  address: string,
  headers: Readonly<Record<string, string>>,
): { url: URL; headers: Record<string, string> } {
  const url = new URL(address);
  const all: Record<string, string> = {};
  if (url.username !== '' || url.password !== '') {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    all.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    url.username = '';
    url.password = '';
  }
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value;
  return { url, headers: all };
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Only its code is read, to classify the fault. */
class BodyDeadlineError extends Error {
  readonly code = 'PACKHOUSE_BODY_DEADLINE';
}

/** Whether to ask one upstream for gzip: decided by measuring both, since it depends on the connection. */
type EncodingChoice = ReturnType<typeof createEncodingChoice>;
type Encoding = 'gzip' | 'identity';

/**
 * The choice for each method of one address, because small answers only cost more with gzip: a method is asked without
 * until some of its answers were large. Methods beyond `most` share one choice.
 */
export function createMethodEncodings(hostname: string, most: number): (method: string) => EncodingChoice {
  const others = createEncodingChoice(hostname);
  const choices = new Map<string, EncodingChoice>();
  return (method) => {
    let choice = choices.get(method);
    if (choice !== undefined) return choice;
    if (choices.size >= most) return others;
    choice = createEncodingChoice(hostname);
    choices.set(method, choice);
    return choice;
  };
}

const SAMPLES = 4;
/** Below this size latency hides bandwidth. */
const MIN_SAMPLE = 65_536;

/**
 * Creates the choice for one address. On loopback gzip only costs (measured: 2 MB of answers take 15 to 23 ms to
 * compress and 4 ms to decompress, to save half a millisecond of copying), so it is never requested there.
 */
export function createEncodingChoice(hostname: string) {
  const loopback = /^(?:(?:.*\.)?localhost|\[::1\]|127\..*)$/.test(hostname);
  const seen = { gzip: { count: 0, rate: 0 }, identity: { count: 0, rate: 0 } };
  return {
    /** The Accept-Encoding of the next request. */
    next: (): Encoding => {
      if (loopback || seen.identity.count < SAMPLES) return 'identity';
      if (seen.gzip.count < SAMPLES) return 'gzip';
      return seen.gzip.rate > seen.identity.rate * 1.1 ? 'gzip' : 'identity';
    },
    /** Reports an answer: its bytes after decoding and the time from the request to its last byte. */
    note: (encoding: Encoding, bytes: number, elapsedMs: number): void => {
      if (bytes < MIN_SAMPLE) return;
      const kind = seen[encoding];
      const rate = bytes / Math.max(1, elapsedMs);
      kind.rate = kind.count === 0 ? rate : kind.rate * 0.8 + rate * 0.2;
      kind.count += 1;
    },
  };
}
