import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayParts } from '../routes/gateway-parts.js';
import { whenHere } from './soon.js';

/** Seconds that a browser remembers what it was told: a key's origins may change. */
const MAX_AGE_SECONDS = 600;

/** Headers that a page may send. `*` would not include Authorization (Fetch standard, 4.9). */
const HEADERS =
  'authorization, content-type, range, if-match, if-none-match, if-range, traceparent, tracestate';

/** For operators, not for pages: a page must not read through its visitor what stands behind his firewall. */
const FOR_OPERATORS = new Set(['/metrics', '/readyz', '/healthz']);

/** Whether pages of other origins may read what is at an address. */
export function isForPages(url: string): boolean {
  return !FOR_OPERATORS.has(url.split('?', 1)[0] as string);
}

/** An API key in a path, as it is or encoded. */
const KEY = /ph_\w{8}_[\w-]{43}/;

/**
 * Lets pages of all origins read the answer: the key is in the address or in a header that the page has to know, and
 * no cookies are looked at. A key with origins of its own narrows it down (`allowOrigin` of the visit).
 */
export function openToPages(reply: FastifyReply): (origin: string | null) => void {
  reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', '*');
  return (origin) => {
    reply.header('vary', 'Origin');
    if (origin === null) reply.removeHeader('access-control-allow-origin');
    else reply.header('access-control-allow-origin', origin);
  };
}

/** Whether a browser asks in advance whether a page may send a request (Fetch standard, 4.8). */
export function isPreflight(method: string, headers: FastifyRequest['headers']): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/**
 * Answers it: which methods an address takes, and whether the key in it may be used from that origin. 403 without the
 * header that the browser waits for, where not. Rejects where the keys cannot be read.
 */
export async function answerPreflight(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Pick<GatewayParts, 'admission'> & { methods: readonly string[] },
): Promise<void> {
  request.visit.route = 'preflight';
  const origin = request.headers.origin as string;
  const { admitted, forAll } = await whenHere(
    parts.admission.admitsOrigin(keyIn(request.raw.url ?? ''), origin),
    (verdict) => verdict,
  );
  reply.header('vary', 'Origin').header('cache-control', 'no-store');
  if (!admitted) {
    reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
    reply.code(403).send();
    return;
  }
  reply
    .header('access-control-allow-origin', forAll ? '*' : origin)
    .header('access-control-allow-methods', parts.methods.join(', '))
    .header('access-control-allow-headers', HEADERS)
    .header('access-control-max-age', MAX_AGE_SECONDS)
    .code(204)
    .send();
}

function keyIn(url: string): string | undefined {
  try {
    return KEY.exec(decodeURIComponent(url))?.[0];
  } catch {
    return undefined;
  }
}
