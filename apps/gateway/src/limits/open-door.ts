import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { addressBlock } from '../http/client-address.js';
import { Problem } from '../http/problem.js';
import { type AnswerHeaders, sayRate } from './rate-headers.js';

/** Lets in who needs no key, so many requests a second from each address. */
export interface OpenDoor {
  /** Throws the problem `rate-limited`. */
  charge(address: string, cost: number, answer: AnswerHeaders): Promise<void>;
}

/** Requests a second from one address. */
const PER_SECOND = 25;

/** Makes a door that counts in this process. */
export function createOpenDoor(perSecond = PER_SECOND): OpenDoor {
  const limiter = new RateLimiterMemory({ points: perSecond, duration: 1 });
  return {
    async charge(address, cost, answer) {
      let state: RateLimiterRes;
      let allowed = true;
      try {
        state = await limiter.consume(addressBlock(address), Math.min(cost, perSecond));
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        state = refusal;
        allowed = false;
      }
      const resetSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1_000));
      const remaining = Math.max(0, state.remainingPoints);
      sayRate(answer, { limit: perSecond, remaining, resetMs: resetSeconds * 1_000 }, cost);
      if (allowed) return;
      throw new Problem('rate-limited', {
        detail: `${perSecond} requests a second are answered without a key; try again in ${resetSeconds} s.`,
        members: {
          limit: perSecond,
          window: 'second',
          retryAfter: resetSeconds,
          retryAfterMs: resetSeconds * 1_000,
        },
        headers: { 'retry-after': String(resetSeconds) },
      });
    },
  };
}
