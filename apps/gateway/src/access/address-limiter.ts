import { hash } from 'node:crypto';
import type { KeyRow } from '@packhouse/database';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { addressBlock } from '../http/client-address.js';
import { Problem } from '../http/problem.js';
import { type AnswerHeaders, sayRate } from './rate-headers.js';

/** Counts the requests of clients without a key, by address. */
export interface AddressLimiter {
  /** Throws the problem `rate-limited`. */
  charge(address: string, cost: number, answer: AnswerHeaders): Promise<void>;
}

/** Requests a second from one address. */
const PER_SECOND = 25;

/** Creates a limiter that counts in this process. */
export function createAddressLimiter(perSecond = PER_SECOND): AddressLimiter {
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

/** Bytes of a hash that a number holds exactly. */
const BYTES = 6;

/**
 * The owner of filters and of concurrent calls, as a number: the key's id, or, for a client without a key, a negative
 * number for the block of addresses that its requests are counted by.
 */
export function ownerOf({
  key,
  address = '',
}: {
  readonly key: KeyRow | undefined;
  readonly address?: string | undefined;
}): number {
  return key?.id ?? -1 - hash('sha256', addressBlock(address), 'buffer').readUIntBE(0, BYTES);
}
