import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { stagingLimit } from './open-postgres.js';

test('staging takes what the environment says, else a part of the disk, which is said', async () => {
  const given = await stagingLimit({ env: { STAGING_MAX_BYTES: '1GiB' }, directory: tmpdir() });
  expect(given).toEqual({ value: '1GiB', line: null });
  const chosen = await stagingLimit({ env: { STAGING_MAX_BYTES: '' }, directory: tmpdir() });
  expect(Number(chosen.value)).toBeGreaterThanOrEqual(268_435_456);
  expect(Number(chosen.value)).toBeLessThanOrEqual(21_474_836_480);
  expect(chosen.line).toMatch(/^Staging limit: [\d.]+ [MG]B of this disk \(STAGING_MAX_BYTES\)/);
});

test('a Postgres elsewhere has the default of the ingester', async () => {
  expect(await stagingLimit({ env: {}, directory: null })).toEqual({ value: undefined, line: null });
});
