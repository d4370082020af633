import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { NftOutcome } from '@packhouse/database';
import { connectPublic, createResolve, type Dial, type Resolve } from '@packhouse/outbound';
import { openScope, untilAborted } from '@packhouse/runtime';
import { Agent, type Dispatcher, request } from 'undici';
import { DOCUMENT_BYTES, readWebAddress } from './token-document.js';

/** A document, or why there is none; never the text of a server or a socket. */
type FetchedDocument = { bytes: Buffer } | { outcome: Exclude<NftOutcome, 'indexed'> };

/** Fetches from an address that a stranger chose. Rejects only when the signal is aborted. */
export type FetchDocument = (url: URL, signal: AbortSignal) => Promise<FetchedDocument>;

export interface FetchPolicy {
  /** Whether http: is allowed as well as https:. */
  allowHttp: boolean;
  /** For all hops together. Default 10 s. */
  timeoutMs?: number | undefined;
  /** Default: DNS. */
  resolve?: Resolve | undefined;
  /** For tests. */
  dial?: Dial | undefined;
}

const TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const DECODERS: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  gzip: (bytes) => promisify(gunzip)(bytes, { maxOutputLength: DOCUMENT_BYTES }),
  deflate: (bytes) => promisify(inflate)(bytes, { maxOutputLength: DOCUMENT_BYTES }),
  br: (bytes) => promisify(brotliDecompress)(bytes, { maxOutputLength: DOCUMENT_BYTES }),
};

/**
 * Each hop is checked like the first and has a separate connection, which ends with it. Requests have only the headers
 * that HTTP needs, and Accept.
 */
export function createFetchDocument(policy: FetchPolicy): FetchDocument {
  const timeoutMs = policy.timeoutMs ?? TIMEOUT_MS;
  const connect = connectPublic({ resolve: policy.resolve ?? createResolve(), dial: policy.dial, timeoutMs });
  return async (url, signal) => {
    const scope = openScope(signal, AbortSignal.timeout(timeoutMs));
    const ending = scope.signal;
    let at = url;
    try {
      for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
        // A question to DNS cannot be cancelled, only abandoned.
        const next = await untilAborted(hopTo(at, connect, ending), ending);
        if (!('location' in next)) return next;
        const target = readWebAddress(next.location, { allowHttp: policy.allowHttp, base: at.href });
        if ('outcome' in target) break;
        at = target.url;
      }
    } catch {
      if (signal.aborted) throw signal.reason;
    } finally {
      scope.close();
    }
    return { outcome: 'unreachable' };
  };
}

async function hopTo(
  url: URL,
  connect: ReturnType<typeof connectPublic>,
  signal: AbortSignal,
): Promise<FetchedDocument | { location: string }> {
  const agent = new Agent({ connect, connections: 1, pipelining: 0, maxHeaderSize: 16_384 });
  try {
    const answer = await request(url, {
      dispatcher: agent,
      signal,
      reset: true,
      headers: { accept: 'application/json', 'accept-encoding': 'gzip, deflate, br' },
    });
    // The rest of an unread body ends with its agent.
    answer.body.on('error', () => undefined);
    return await readAnswer(answer);
  } finally {
    await agent.destroy();
  }
}

async function readAnswer(answer: Dispatcher.ResponseData): Promise<FetchedDocument | { location: string }> {
  const { statusCode, headers } = answer;
  const { location } = headers;
  if (REDIRECTS.has(statusCode) && typeof location === 'string') return { location };
  if (statusCode === 429 || (statusCode === 503 && headers['retry-after'] !== undefined)) {
    return { outcome: 'throttled' };
  }
  if (statusCode < 200 || statusCode > 299) return { outcome: 'unreachable' };
  if (Number(headers['content-length'] ?? 0) > DOCUMENT_BYTES) return { outcome: 'too_large' };
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > DOCUMENT_BYTES) return { outcome: 'too_large' };
    chunks.push(chunk);
  }
  return decoded(Buffer.concat(chunks), headers['content-encoding']);
}

async function decoded(bytes: Buffer, encoding: string | string[] | undefined): Promise<FetchedDocument> {
  const name = String(encoding ?? 'identity')
    .trim()
    .toLowerCase()
    .replace(/^x-/, '');
  if (name === 'identity' || name === '') return { bytes };
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (decode === undefined) return { outcome: 'invalid_json' };
  try {
    return { bytes: await decode(bytes) };
  } catch (error) {
    const large = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
    return { outcome: large ? 'too_large' : 'invalid_json' };
  }
}
