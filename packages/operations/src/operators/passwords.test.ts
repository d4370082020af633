import { expect, test } from 'vitest';
import { hashPassword, isPassword, withPasswordCheck } from './passwords.js';

test('a password is checked by its hash, and many at once only up to a bound', async () => {
  const hash = await hashPassword('correct horse');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await isPassword('correct horse', hash)).toBe(true);
  expect(await isPassword('correct horse', null)).toBe(false);

  const begun = { strangers: 0, known: 0 };
  const check = (who: keyof typeof begun) =>
    withPasswordCheck(who === 'known', () => {
      begun[who] += 1;
      return isPassword('wrong', hash);
    });
  const strangers = Array.from({ length: 30 }, () => check('strangers'));
  const known = Array.from({ length: 10 }, () => check('known'));
  const asked = await Promise.allSettled([...strangers, ...known]);
  expect(begun).toEqual({ strangers: 8, known: 4 });
  expect(asked.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'SIGN_IN_LOCKED', data: { retryAfterMs: 2_000 } },
  });
  expect(await check('strangers')).toBe(false);
});
