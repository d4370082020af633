import { hash } from 'node:crypto';
import type { KeyRow } from '@packhouse/database';
import { addressBlock } from '@packhouse/runtime';
import { type MaybePromise, thenSync } from '../http/maybe-promise.js';
import { Problem } from '../http/problem.js';
import { type AnswerHeaders, type RateVerdict, writeRateLimitHeaders } from './quotas.js';
import type { SecondLimiter } from './rate-limiter.js';

/** Counts the requests of clients without a key, by address, and apart from them those whose key is not valid. */
export type AddressLimiter = ReturnType<typeof createAddressLimiter>;

/** Requests a second from one address. */
const PER_SECOND = 25;

/** Creates a limiter. */
export function createAddressLimiter(seconds: SecondLimiter, perSecond = PER_SECOND) {
  const refuse = (verdict: RateVerdict, cost: number, answer: AnswerHeaders): never => {
    const retryAfter = Math.max(1, Math.ceil(verdict.resetMs / 1_000));
    writeRateLimitHeaders(answer, verdict, cost);
    throw new Problem('rate-limited', {
      detail: `Without a valid key, ${perSecond} requests per second are answered; try again in ${retryAfter} s.`,
      members: { limit: perSecond, window: 'second' },
      retryAfter,
    });
  };
  const failing = (address: string): string => `failed ${addressBlock(address)}`;
  return {
    /** Counts a request. `paid`: units that were counted for its body. Throws the problem `rate-limited`. */
    charge(address: string, cost: number, answer: AnswerHeaders, paid = 0): MaybePromise<void> {
      const taken = seconds.take(addressBlock(address), perSecond, Math.max(0, cost - paid), paid);
      return thenSync(taken, (verdict) => {
        if (!verdict.allowed) refuse(verdict, cost, answer);
        writeRateLimitHeaders(answer, verdict, Math.max(cost, paid));
      });
    },
    /** Counts a request whose key is not valid. Throws the problem `rate-limited`. */
    chargeFailed: (address: string, answer: AnswerHeaders): MaybePromise<void> =>
      thenSync(seconds.take(failing(address), perSecond, 1), (verdict) => {
        if (!verdict.allowed) refuse(verdict, 1, answer);
      }),
    /** Counts nothing: whether a request whose key is not valid would be refused. */
    isFailing: (address: string): MaybePromise<boolean> =>
      thenSync(seconds.peek(failing(address), perSecond), ({ remaining }) => remaining === 0),
  };
}

/** Bytes of a hash that a number holds exactly. */
const BYTES = 6;

/**
 * The owner of filters and of concurrent calls, as a number: the key's id, or, for a client without a key, a negative
 * number for the block of addresses that its requests are counted by.
 */
export function getOwner({
  key,
  address = '',
}: {
  readonly key: KeyRow | undefined;
  readonly address?: string | undefined;
}): number {
  return key?.id ?? -1 - hash('sha256', addressBlock(address), 'buffer').readUIntBE(0, BYTES);
}
