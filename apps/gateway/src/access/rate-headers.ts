/** The rest of a key's units, in the window that is nearest to its limit. */
export interface RateVerdict {
  allowed: boolean;
  window: 'second' | 'day' | 'month';
  /** The method whose limit refused; absent: the limit is of all methods together. */
  method?: string;
  /** Units per window; calls if it is the limit of a method. */
  limit: number;
  remaining: number;
  /** Milliseconds until the next window. */
  resetMs: number;
  /** The windows whose limit is near, for the header; absent: none is. */
  warning?: string;
}

/** Takes the headers of an answer. */
export interface AnswerHeaders {
  header(name: string, value: string | number): unknown;
}

/**
 * Sets the headers: the rest of the window nearest to its limit, and the units that this request cost. The drafts of
 * RateLimit fields (draft-ietf-httpapi-ratelimit-headers) have no warning, so it has a field of its own.
 */
export function writeRateLimitHeaders(
  answer: AnswerHeaders,
  { limit, remaining, resetMs, warning }: Pick<RateVerdict, 'limit' | 'remaining' | 'resetMs' | 'warning'>,
  cost: number,
): void {
  answer.header('ratelimit-limit', limit);
  answer.header('ratelimit-remaining', remaining);
  answer.header('ratelimit-reset', Math.ceil(resetMs / 1_000));
  answer.header('ratelimit-cost', cost);
  if (warning !== undefined) answer.header('packhouse-usage-warning', warning);
}
