import { expect, test } from 'vitest';
import { createSignInLimiter } from './sign-in-limiter.js';

const refused = (retryAfterMs: number) =>
  expect.objectContaining({ code: 'SIGN_IN_LOCKED', data: { retryAfterMs } });

test('of a minute so many failures of each subject are heard, and one that must wait counts for none', () => {
  let now = 5_000;
  const limiter = createSignInLimiter({ elapsed: () => now });
  const address = { name: 'address 192.0.2.1', most: 2 };
  const name = { name: 'name ada', most: 3 };
  for (let attempt = 0; attempt < 10; attempt++) {
    limiter.begin([address, name]);
    limiter.succeeded([address, name]);
  }
  limiter.begin([address, name]);
  now += 20_000;
  limiter.begin([address, name]);
  expect(() => limiter.begin([address, name])).toThrow(refused(40_000));
  limiter.begin([name]);
  expect(() => limiter.begin([name])).toThrow(refused(40_000));
  now += 40_000;
  limiter.begin([address, name]);
});

test('what Postgres locked is not heard until then', () => {
  let now = 0;
  const limiter = createSignInLimiter({ elapsed: () => now });
  const pair = { name: 'pair', most: 100 };
  limiter.begin([pair]);
  limiter.lock(pair, 900_000);
  now = 100_000;
  expect(() => limiter.begin([pair])).toThrow(refused(800_000));
  now = 900_000;
  limiter.begin([pair]);
});
