import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('tries again after 1, 2, 4 … minutes, and every day in the end', async () => {
  const { quarantine } = open.database;
  const put = () =>
    quarantine.put({
      network: 'main',
      number: 7,
      kinds: ['traces'],
      cause: 'PROOF_FAILED',
      message: 'the root differs',
      upstream: 'node-1',
      payloadDigest: 'ab'.repeat(32),
    });
  const waits: number[] = [];
  const asked = async () => (await open.sql<{ at: Date }>('SELECT clock_timestamp() AS at'))[0]!.at.getTime();
  let attempts = 0;
  for (const _ of Array.from({ length: 14 })) {
    const before = await asked();
    const row = await put();
    attempts += 1;
    expect(row).toMatchObject({ attempts, upstream: 'node-1', payloadDigest: 'ab'.repeat(32) });
    waits.push(Math.floor((row.nextTry.getTime() - before) / 60_000));
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_440, 1_440, 1_440]);
});

it('lists by network, remembers all kinds that failed, forgets on removal', async () => {
  const { quarantine, networks } = open.database;
  await networks.register({ id: 'second', chainId: 2 });
  const row = { number: 9, cause: 'RECORD_INVALID', message: 'x', upstream: null, payloadDigest: null };
  await quarantine.put({ ...row, network: 'second', kinds: ['logs'] });
  await quarantine.put({ ...row, network: 'second', kinds: ['blocks'] });
  expect(await quarantine.list('second')).toMatchObject([
    { network: 'second', number: 9, kinds: ['blocks', 'logs'] },
  ]);
  expect((await quarantine.list()).map(({ network }) => network)).toContain('second');
  await quarantine.remove('second', 9);
  await quarantine.remove('nowhere', 9);
  expect(await quarantine.list('second')).toEqual([]);
});

it('tries the blocks of a range at once when it is told to, and counts those tries like any other', async () => {
  const { quarantine, networks } = open.database;
  await networks.register({ id: 'third', chainId: 3 });
  const row = { cause: 'PROOF_FAILED', message: 'x', upstream: null, payloadDigest: null };
  for (const number of [10, 11, 12])
    await quarantine.put({ ...row, network: 'third', number, kinds: ['logs'] });
  expect(await quarantine.retry('third', { start: 11, end: 99 })).toBe(2);
  expect(await quarantine.retry('nowhere', { start: 0, end: 99 })).toBe(0);
  const now = (await open.sql<{ at: Date }>('SELECT clock_timestamp() AS at'))[0]!.at;
  const due = (await quarantine.list('third')).filter((each) => each.nextTry <= now);
  expect(due.map(({ number, attempts }) => [number, attempts])).toEqual([
    [11, 1],
    [12, 1],
  ]);
  const again = await quarantine.put({ ...row, network: 'third', number: 11, kinds: ['logs'] });
  expect(again.attempts).toBe(2);
  expect(again.nextTry.getTime()).toBeGreaterThan(now.getTime());
});
