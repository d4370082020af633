import { createHash } from 'node:crypto';
import { PackhouseError } from '@packhouse/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export const CSP = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** The policy of a page that has scripts of its own in its HTML: these are allowed by their hashes, and no others. */
export function toPageCsp(html: string): string {
  const hashes = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return `${CSP}; script-src ${["'self'", ...hashes].join(' ')}`;
}

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Of all but the files of the page.
  'cache-control': 'no-store',
};

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Sets the headers of all answers, and refuses requests under another name than the console's (a page elsewhere whose
 * name was pointed here) and changes that a page elsewhere sent. Throws HOST_REFUSED, CSRF_REFUSED.
 */
export function addHeaders(
  app: FastifyInstance,
  { url, host }: { url: string | undefined; host: string },
): void {
  const own = url === undefined ? null : new URL(url);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS);
    if (request.url === '/healthz' || request.url === '/readyz') return;
    const name = request.headers.host ?? '';
    if (name !== own?.host && !LOOPBACK.test(name) && name.replace(/:\d+$/, '') !== host) {
      throw new PackhouseError({
        code: 'HOST_REFUSED',
        message: `Unknown host name "${name.slice(0, 100)}".`,
        hint: 'Set CONSOLE_URL to the URL in the browser.',
      });
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') checkOrigin(request, own);
  });
}

function checkOrigin(request: FastifyRequest, own: URL | null): void {
  const { origin, host } = request.headers;
  const site = request.headers['sec-fetch-site'];
  // Where the console has an address of its own, a page under its name without TLS is another one.
  const here = own !== null && own.host === host ? own.origin : `http://${host}`;
  const same = origin === undefined || origin === own?.origin || origin === here;
  if (same && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new PackhouseError({
    code: 'CSRF_REFUSED',
    message: `The change came from a page of ${String(origin ?? 'another site').slice(0, 100)}.`,
    hint: 'Only pages of this console may send changes; programs send a token and no Origin.',
  });
}
