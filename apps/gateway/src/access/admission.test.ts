import { hash } from 'node:crypto';
import type { KeyRow } from '@packhouse/database';
import { systemClock } from '@packhouse/runtime';
import { expect, it } from 'vitest';
import type { Exchange } from '../http/exchange.js';
import type { Problem } from '../http/problem.js';
import { createAddressLimiter } from './address-limiter.js';
import { bearerKey, createAdmission } from './admission.js';
import { createKeyCache } from './key-cache.js';
import { createQuotas } from './quotas.js';
import { createRateLimiter } from './rate-limiter.js';
import { createLocalSeconds } from './seconds.js';
import type { UsageCounts } from './usage-counts.js';

const keyOf = (name: string): string => `ph_abcdefgh_${name.padEnd(43, 'A')}`;
const RESTRICTS_NOTHING = { origins: [], addresses: [], methods: [], contracts: [] };

it('reads the key of a bearer header and nothing else', () => {
  expect(bearerKey('Bearer abc')).toBe('abc');
  expect(bearerKey('bearer  abc ')).toBe('abc');
  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', 'abc']) {
    expect(bearerKey(header), header).toBeUndefined();
  }
});

it('refuses an address what it guesses beyond so many a second, and no good key behind it, first used or not', async () => {
  const clock = { ...systemClock, elapsed: () => 1_000_000 };
  const asked: Buffer[] = [];
  let joint = 0;
  const row = {
    id: 1,
    revokedAt: null,
    expiresAt: null,
    network: null,
    ...RESTRICTS_NOTHING,
  } as unknown as KeyRow;
  const keys = createKeyCache({
    clock,
    async find(sha256) {
      asked.push(sha256);
      return sha256.equals(hash('sha256', keyOf('good'), 'buffer')) ? row : null;
    },
    async findAmong(sha256s) {
      joint += 1;
      const late = hash('sha256', keyOf('late'), 'hex');
      return new Map(sha256s.some((sha256) => sha256.toString('hex') === late) ? [[late, row]] : []);
    },
  });
  const seconds = createLocalSeconds(clock);
  const admission = createAdmission({
    clock,
    keys,
    addressLimiter: createAddressLimiter(createLocalSeconds(clock), 3),
    rateLimiter: createRateLimiter(seconds, createQuotas(clock)),
    usage: {} as UsageCounts,
  });
  const getReason = async (name: string, ip = '192.0.2.1'): Promise<string> => {
    const exchange = { ip, origin: undefined, route: 'rpc', header: () => undefined } as unknown as Exchange;
    try {
      await admission.identify(keyOf(name), exchange);
      return 'ok';
    } catch (error) {
      return (error as Problem).reason;
    }
  };
  expect(await getReason('good')).toBe('ok');
  const reasons: string[] = [];
  for (let n = 0; n < 6; n++) reasons.push(await getReason(`bad${n}`));
  expect(reasons).toEqual([...new Array(3).fill('unauthenticated'), ...new Array(3).fill('rate-limited')]);
  expect(asked).toHaveLength(4);
  expect(await getReason('good')).toBe('ok');
  // At once with guesses, in a query or two for all of them.
  const before = joint;
  const guesses = Array.from({ length: 300 }, (_, n) => getReason(`more${n}`));
  expect(await getReason('late')).toBe('ok');
  expect(new Set(await Promise.all(guesses))).toEqual(new Set(['rate-limited']));
  expect(joint - before).toBeLessThanOrEqual(2);
  expect(asked).toHaveLength(4);
  expect(await getReason('bad', '192.0.2.2')).toBe('unauthenticated');
});
