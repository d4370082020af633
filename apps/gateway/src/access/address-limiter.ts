import { hash } from 'node:crypto';
import type { KeyRow } from '@packhouse/database';
import { addressBlock } from '../http/client-address.js';
import { Problem } from '../http/problem.js';
import { type Soon, whenHere } from '../http/soon.js';
import { type AnswerHeaders, type RateVerdict, sayRate } from './rate-headers.js';
import type { SecondLimiter } from './rate-limiter.js';

/** Counts the requests of clients without a key, by address, and apart from them those whose key is not valid. */
export interface AddressLimiter {
  /** Counts a request. `paid`: units that were counted for its body. Throws the problem `rate-limited`. */
  charge(address: string, cost: number, answer: AnswerHeaders, paid?: number): Soon<void>;
  /** Counts a request whose key is not valid. Throws the problem `rate-limited`. */
  chargeFailed(address: string, answer: AnswerHeaders): Soon<void>;
  /** Counts nothing. Throws the problem `rate-limited` if a request whose key is not valid would be refused. */
  refuseFailing(address: string, answer: AnswerHeaders): Soon<void>;
}

/** Requests a second from one address. */
const PER_SECOND = 25;

/** Creates a limiter. */
export function createAddressLimiter(seconds: SecondLimiter, perSecond = PER_SECOND): AddressLimiter {
  const refuse = (verdict: RateVerdict, cost: number, answer: AnswerHeaders): never => {
    const retryAfter = Math.max(1, Math.ceil(verdict.resetMs / 1_000));
    sayRate(answer, verdict, cost);
    throw new Problem('rate-limited', {
      detail: `${perSecond} requests a second are answered without a valid key; try again in ${retryAfter} s.`,
      members: { limit: perSecond, window: 'second', retryAfter, retryAfterMs: retryAfter * 1_000 },
      headers: { 'retry-after': String(retryAfter) },
    });
  };
  const failing = (address: string): string => `failed ${addressBlock(address)}`;
  return {
    charge(address, cost, answer, paid = 0) {
      const taken = seconds.take(addressBlock(address), perSecond, Math.max(0, cost - paid), paid);
      return whenHere(taken, (verdict) => {
        if (!verdict.allowed) refuse(verdict, cost, answer);
        sayRate(answer, verdict, Math.max(cost, paid));
      });
    },
    chargeFailed: (address, answer) =>
      whenHere(seconds.take(failing(address), perSecond, 1), (verdict) => {
        if (!verdict.allowed) refuse(verdict, 1, answer);
      }),
    refuseFailing: (address, answer) =>
      whenHere(seconds.left(failing(address), perSecond), (verdict) => {
        if (verdict.remaining === 0) refuse(verdict, 1, answer);
      }),
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
