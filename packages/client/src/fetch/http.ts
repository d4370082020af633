import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import {
  getCertificateHint,
  guardConnections,
  isPackhouseError,
  PackhouseError,
  redact,
  systemClock,
} from '@packhouse/runtime';
import { type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { createDocumentTurns, type DocumentTurns } from './document-turns.js';
import type { GatewayAddress } from './gateway-address.js';

/** Why a request waits. */
export interface Wait {
  /** What the gateway said, or what went wrong. */
  reason: string;
  seconds: number;
  /** Whether the gateway asked for it (429): such waits have no bound. */
  rateLimited: boolean;
}

interface HttpOptions {
  apiKey: string;
  /** Told of every wait before it begins. */
  onWait?: ((wait: Wait) => void) | undefined;
  /** Told when a request is answered that broke before, or had 5xx or 408. */
  onBack?: (() => void) | undefined;
  /** Once an answer has come, what breaks is asked again until it is answered: for those that wait anyway. */
  patient?: boolean | undefined;
  /** Shared by all that use the key. */
  turns?: DocumentTurns | undefined;
  /** Waits `ms`; a test replaces it. */
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** An answer of status 200, or 206 if a range was asked for. */
export interface Answer {
  /** The position of the first byte of a range; null: it is whole. */
  start: number | null;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
}

interface Asked {
  /** Sent with the key as `Authorization: Bearer`, and led on to the object store, without it; addresses under the base have the key in their path. */
  bearer?: boolean;
  /** Inclusive positions; the answer may be whole nevertheless. */
  range?: { start: number; end: number };
  /** JSON-RPC: the body of a POST. */
  post?: string;
  signal?: AbortSignal | undefined;
}

/** Requests to one gateway, with its key. */
export interface Http {
  /**
   * Asks until there is an answer that `read` reads whole: broken and truncated answers, 5xx and 408 are asked again a
   * few times, 429 as often as it comes. Throws API_KEY_REFUSED, PLAN_LIMIT, DOWNLOAD_FAILED (`data.reason` and
   * `data.status` are the gateway's), and what `read` throws as a PackhouseError.
   */
  get<T>(url: string, read: (answer: Answer) => Promise<T>, asked?: Asked): Promise<T>;
  /** As `get`, for a text of at most `maxBytes`. */
  text(url: string, maxBytes: number, asked?: Asked): Promise<string>;
  /** Requests sent so far. */
  readonly sent: number;
  close(): Promise<void>;
}

/** A network at a gateway, with the client that asks for it. */
export interface Gateway {
  address: GatewayAddress;
  http: Http;
}

/** Tries of a request that breaks or is answered with 5xx. */
const TRIES = 6;
const INITIAL_PAUSE_MS = 500;
/** Pauses without 429 are no longer than this, whatever Retry-After says. */
const MAX_PAUSE_MS = 60_000;
/** How long to wait after 429 without Retry-After. */
const DEFAULT_WAIT_MS = 5_000;
/** A wait is at least this long, whatever Retry-After says, and after at most this the gateway is asked again. */
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 3_600_000;
/** Statuses with which a gateway leads to the object store; the request stays a GET. */
const REDIRECTIONS = new Set([302, 303, 307]);
/** Addresses that lead on in a row; a store may know another place of its own. */
const MAX_LEADS = 3;
const PROBLEM_BYTES = 65_536;
const MAX_DETAIL_LENGTH = 500;
/** Without a byte for so long, a connection is dead. */
const SILENCE_MS = 60_000;

function throughProxies(): Dispatcher {
  try {
    return new EnvHttpProxyAgent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
  } catch (cause) {
    throw new PackhouseError({
      code: 'USAGE',
      message: 'HTTPS_PROXY or HTTP_PROXY is not the address of a proxy.',
      hint: 'For example http://proxy.example.com:3128.',
      cause,
    });
  }
}

/** Creates the HTTP client of a gateway. Honours HTTPS_PROXY, HTTP_PROXY and NO_PROXY; USAGE if one is no address. */
export function createHttp(options: HttpOptions): Http {
  const { apiKey, onWait, onBack, patient = false, sleep = systemClock.sleep } = options;
  const turn = options.turns ?? createDocumentTurns();
  guardConnections();
  const dispatcher = throughProxies();
  let sent = 0;
  let answered = false;

  /** `leads`: how many addresses led here; 0 is the gateway, which alone gets the key. */
  const once = async <T>(
    url: string,
    read: (answer: Answer) => Promise<T>,
    asked: Asked,
    leads = 0,
  ): Promise<T> => {
    sent += 1;
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      signal: asked.signal ?? null,
      method: asked.post === undefined ? 'GET' : 'POST',
      body: asked.post ?? null,
      headers: {
        'user-agent': 'packhouse-client/0.1.0',
        // Files are hashed as they are.
        ...(asked.bearer === true ? {} : { 'accept-encoding': 'br, gzip' }),
        ...(asked.bearer === true && leads === 0 ? { authorization: `Bearer ${apiKey}` } : {}),
        ...(asked.post === undefined ? {} : { 'content-type': 'application/json' }),
        ...(asked.range === undefined ? {} : { range: `bytes=${asked.range.start}-${asked.range.end}` }),
      },
    });
    try {
      const start = statusCode === 206 ? getStart(headers['content-range'], asked) : null;
      if (statusCode === 200 || start !== null)
        return await read({ headers, start, body: decoded(body, headers['content-encoding']) });
      if (asked.bearer === true && REDIRECTIONS.has(statusCode) && leads < MAX_LEADS) {
        return await once(ledTo(url, headers.location), read, asked, leads + 1);
      }
      if (leads > 0) throw storeRefusal(url, statusCode, headers['retry-after']);
      throw refusal(
        url,
        statusCode,
        headers['retry-after'],
        await getProblem(decoded(body, headers['content-encoding'])),
      );
    } finally {
      // What was not read is not wanted; a body read to its end is not touched by this.
      body.on('error', () => undefined).destroy();
    }
  };

  const inTurn: typeof once = async (url, read, asked) => {
    const end = await turn(url);
    try {
      return await once(url, read, asked);
    } finally {
      end();
    }
  };

  const get: Http['get'] = async (url, read, asked = {}) => {
    let failures = 0;
    for (;;) {
      try {
        const answer = await inTurn(url, read, asked);
        answered = true;
        if (failures > 0) onBack?.();
        return answer;
      } catch (error) {
        asked.signal?.throwIfAborted();
        const failure = isPackhouseError(error) ? error : broken(url, error);
        const told = failure.data.status === 429;
        if (!told) failures += 1;
        // A full disk is not the gateway's fault, and asking again does not help.
        const again = failure.code === 'DOWNLOAD_FAILED' && failure.retryable;
        const isLast = failures >= TRIES && !(patient && answered);
        if (!again || isLast) throw failure;
        const ms = told ? getWait(failure) : getPause(failure, failures);
        onWait?.({ reason: failure.message, seconds: ms / 1_000, rateLimited: told });
        await sleep(ms, asked.signal);
      }
    }
  };

  return {
    get,
    text: (url, maxBytes, asked) => get(url, ({ body }) => readText(body, maxBytes, shownUrl(url)), asked),
    get sent() {
      return sent;
    },
    close: () => dispatcher.close(),
  };
}

/** Where the range of an answer begins; null if it is none that was asked for. */
function getStart(header: string | string[] | undefined, { range }: Asked): number | null {
  const [, start] = /^bytes (\d{1,15})-\d{1,15}\//.exec(String(header)) ?? [];
  return range !== undefined && Number(start) === range.start ? range.start : null;
}

/** What a body is without its coding. */
function decoded(body: Readable, coding: string | string[] | undefined): Readable {
  if (coding !== 'br' && coding !== 'gzip') return body;
  // What breaks reaches the reader.
  return pipeline(body, coding === 'br' ? createBrotliDecompress() : createGunzip(), () => undefined);
}

/** As the gateway says: a quota of a month may be used up for weeks, which is longer than a timer can be. */
function getWait({ data }: PackhouseError): number {
  const asked = (data.retryAfterMs as number | undefined) ?? DEFAULT_WAIT_MS;
  return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, asked));
}

/** Doubles from half a second, or as Retry-After says, within bounds. */
function getPause({ data }: PackhouseError, failures: number): number {
  const asked = (data.retryAfterMs as number | undefined) ?? 0;
  return Math.min(MAX_PAUSE_MS, Math.max(asked, INITIAL_PAUSE_MS * 2 ** (failures - 1)));
}

/** The address for messages: without the key, and without a query. */
function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/ph_[^/]*/, '')}`;
}

/** The bytes of a body. Throws what `tooLong` makes if they are more than `maxBytes`. */
export async function readBody(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLong: () => PackhouseError,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function readText(body: Readable, maxBytes: number, where: string): Promise<string> {
  const tooLong = (): PackhouseError =>
    new PackhouseError({
      code: 'DOWNLOAD_FAILED',
      message: `The answer of ${where} has more than ${maxBytes} bytes, which is more than it can be.`,
      hint: 'Check the address.',
      retryable: false,
    });
  return (await readBody(body, maxBytes, tooLong)).toString();
}

interface ProblemBody {
  reason?: string | undefined;
  detail?: string | undefined;
  maxBlock?: number | undefined;
}

async function getProblem(body: Readable): Promise<ProblemBody> {
  try {
    const value: unknown = JSON.parse(await readText(body, PROBLEM_BYTES, ''));
    if (typeof value !== 'object' || value === null) return {};
    const { reason, detail, maxBlock } = value as Record<string, unknown>;
    return {
      reason: typeof reason === 'string' ? reason : undefined,
      detail: typeof detail === 'string' ? printable(detail) : undefined,
      maxBlock: typeof maxBlock === 'number' ? maxBlock : undefined,
    };
  } catch {
    return {};
  }
}

/** Text of others for a message: one line, and nothing that a terminal takes for a command. */
function printable(text: string): string {
  return text.slice(0, MAX_DETAIL_LENGTH).replace(/\p{C}+/gu, ' ');
}

/** The address that a redirection leads to: http or https, and from https to nothing less. Throws DOWNLOAD_FAILED. */
function ledTo(url: string, location: string | string[] | undefined): string {
  const to =
    typeof location === 'string' && location !== '' && URL.canParse(location, url)
      ? new URL(location, url)
      : null;
  const fits = to?.protocol === 'https:' || (to?.protocol === 'http:' && url.startsWith('http:'));
  if (to !== null && fits && to.username === '' && to.password === '') return to.href;
  throw new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: `${shownUrl(url)} leads to no address that can be downloaded: expected one of ${url.startsWith('http:') ? 'http or https' : 'https'}, got ${to === null ? 'none' : to.protocol.slice(0, -1)}.`,
    hint: 'Tell the operator of the gateway.',
    retryable: false,
  });
}

/** The error of an object store: its address may be too old by now, so the gateway is asked for another one. */
function storeRefusal(
  url: string,
  status: number,
  retryAfter: string | string[] | undefined,
): PackhouseError {
  return new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: `${shownUrl(url)} could not be downloaded: the object store, to which the gateway leads, answered with the status ${status}.`,
    hint: 'Check that the address can be reached from here, and the clock of the gateway.',
    data: { status, retryAfterMs: getRetryAfter(retryAfter) },
    // It has another file than the one that the range is of.
    retryable: status !== 416,
  });
}

/** A date in place of seconds (RFC 9110, 10.2.3) is not read: the clocks may differ. */
function getRetryAfter(header: string | string[] | undefined): number | undefined {
  return /^\d{1,10}$/.test(String(header)) ? Number(header) * 1_000 : undefined;
}

/** The error of an answer that is not 200. */
function refusal(
  url: string,
  status: number,
  retryAfter: string | string[] | undefined,
  { reason, detail, maxBlock }: ProblemBody,
): PackhouseError {
  const retryAfterMs = getRetryAfter(retryAfter);
  const said = redact(detail ?? `the answer has the status ${status}`).replace(/\.$/, '');
  const data = { status, reason, maxBlock, retryAfterMs };
  if (reason === 'plan-limit') {
    return new PackhouseError({ code: 'PLAN_LIMIT', message: `${said}.`, data });
  }
  if (status === 401 || status === 403 || status === 407) {
    return new PackhouseError({
      code: 'API_KEY_REFUSED',
      message: `${shownUrl(url)} refused the API key: ${said}.`,
      hint: 'Give a valid key in PACKHOUSE_API_KEY or with --api-key-file; what is downloaded already is kept.',
      data,
    });
  }
  return new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: `${shownUrl(url)} answered with an error: ${said}.`,
    hint: status === 404 ? 'Check the address, the network in it and the kind.' : undefined,
    data,
    retryable: status === 429 || status === 408 || status >= 500,
  });
}

function broken(url: string, cause: unknown): PackhouseError {
  const { message, code } = cause as NodeJS.ErrnoException;
  return new PackhouseError({
    code: 'DOWNLOAD_FAILED',
    message: `${shownUrl(url)} could not be downloaded: ${redact(message || String(code)).replace(/\.$/, '')}.`,
    hint:
      getCertificateHint(cause) ??
      'Check the network and the address, then run it again: it continues where it ended.',
    cause,
  });
}
