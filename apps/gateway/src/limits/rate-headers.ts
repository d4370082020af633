import type { RateVerdict } from './rate-limiter.js';

/** Where the headers of an answer go. */
export interface AnswerHeaders {
  header(name: string, value: string | number): unknown;
}

/** Says in an answer what is left of the window that is nearest to its end, and how many requests this one counted as. */
export function sayRate(
  answer: AnswerHeaders,
  { limit, remaining, resetMs }: Pick<RateVerdict, 'limit' | 'remaining' | 'resetMs'>,
  cost: number,
): void {
  answer.header('ratelimit-limit', limit);
  answer.header('ratelimit-remaining', remaining);
  answer.header('ratelimit-reset', Math.ceil(resetMs / 1_000));
  answer.header('ratelimit-cost', cost);
}
