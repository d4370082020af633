import { type Asked, type Fault, makeFault } from './fault.js';

/** The parts of an HTTP answer that decide. */
export interface HttpStatus {
  status: number;
  /** The Retry-After header as sent. */
  retryAfter: string | undefined;
  location: string | undefined;
  /** The start of the body. */
  text: string;
}

/** Milliseconds of a Retry-After header (RFC 9110, 10.2.3: seconds or a date), at least 0. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Classifies an HTTP status other than 200; 1015 is Cloudflare's "you are being rate limited". */
export function statusFault(http: HttpStatus, asked: Asked, calls: number, now: number): Fault {
  const { status } = http;
  const wait = retryAfterMs(http.retryAfter, now);
  const said = http.text.trim() === '' ? '' : ` ("${asked.label.quote(http.text)}")`;
  if (status === 429 || /error code: 1015/i.test(http.text)) {
    return makeFault(
      asked,
      'NODE_RATE_LIMITED',
      `asked for fewer requests with HTTP ${status}${said}`,
      calls > 1 ? 'shrink' : 'here',
      {
        retryAfterMs: wait,
        hint: 'Set requestsPerSecond for it in the networks file.',
      },
    );
  }
  if (status === 401 || status === 403) {
    return makeFault(
      asked,
      'NODE_UNAUTHORIZED',
      `refused the credentials with HTTP ${status}${said}`,
      'elsewhere',
      {
        weighs: true,
        hint: 'Check the key in its address or headers.',
      },
    );
  }
  if (status === 413) {
    return makeFault(
      asked,
      'NODE_ANSWER_TOO_LARGE',
      'answered HTTP 413, too large',
      calls > 1 ? 'shrink' : 'elsewhere',
    );
  }
  if (status >= 300 && status < 400) {
    const to = http.location === undefined ? '' : ` to ${asked.label.quote(http.location)}`;
    return makeFault(asked, 'NODE_HTTP_ERROR', `redirects${to} (HTTP ${status})`, 'elsewhere', {
      weighs: true,
      hint: 'Redirects are not followed: give the final address.',
    });
  }
  if (status === 408 || status === 504) {
    return makeFault(asked, 'NODE_TIMEOUT', `answered HTTP ${status}${said}`, calls > 1 ? 'shrink' : 'here', {
      weighs: true,
    });
  }
  return makeFault(
    asked,
    'NODE_HTTP_ERROR',
    `answered HTTP ${status}${said}`,
    calls > 1 ? 'shrink' : 'here',
    {
      // A node that takes no batches says so with any status; one that is down says 502 or 503 to everything.
      weighs: calls === 1 || status === 502 || status === 503,
      retryAfterMs: wait,
    },
  );
}
