import { expect, test } from 'vitest';
import { hashPassword, isPassword } from './passwords.js';

test('a password is checked by its hash, and many at once only up to a bound', async () => {
  const hash = await hashPassword('correct horse');
  expect(await isPassword('correct horse', hash)).toBe(true);
  expect(await isPassword('correct horse', null)).toBe(false);

  const asked = await Promise.allSettled(Array.from({ length: 30 }, () => isPassword('wrong', hash)));
  const refused = asked.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(14);
  expect(refused[0]).toMatchObject({ reason: { code: 'SIGN_IN_LOCKED', data: { retryAfterMs: 2_000 } } });
  expect(await isPassword('wrong', hash)).toBe(false);
});
