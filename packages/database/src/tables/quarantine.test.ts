import { KINDS } from '@packhouse/chain';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('tries again after 1, 2, 4 … minutes, and every day in the end', async () => {
  const put = () =>
    open.main.quarantine.put({
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
    await open.main.quarantine.retry({ start: 7, end: 7 });
    const before = await asked();
    const row = await put();
    attempts += 1;
    expect(row).toMatchObject({ attempts, upstream: 'node-1', payloadDigest: 'ab'.repeat(32) });
    waits.push((row.nextTry.getTime() - before) / 60_000);
  }
  const expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_440, 1_440, 1_440];
  for (const [i, minutes] of expected.entries()) {
    // Up to a tenth later, plus the time of the query.
    expect(waits[i]).toBeGreaterThanOrEqual(minutes);
    expect(waits[i]).toBeLessThan(minutes * 1.1 + 1);
  }
});

it('lists by network, remembers all kinds that failed, forgets on removal', async () => {
  const { quarantine, networks } = open.database;
  await networks.register({ id: 'second', chainId: 2 });
  const row = { number: 9, cause: 'RECORD_INVALID', message: 'x', upstream: null, payloadDigest: null };
  await open.database.network('second').quarantine.put({ ...row, kinds: ['logs'] });
  await open.database.network('second').quarantine.put({ ...row, kinds: ['blocks'] });
  expect(await open.database.network('second').quarantine.list()).toMatchObject([
    { network: 'second', number: 9, kinds: ['blocks', 'logs'] },
  ]);
  expect((await quarantine.list()).map(({ network }) => network)).toContain('second');
  await open.database.network('second').quarantine.settle({ start: 9, end: 9 }, KINDS);
  await open.database.network('nowhere').quarantine.settle({ start: 9, end: 9 }, KINDS);
  expect(await open.database.network('second').quarantine.list()).toEqual([]);
});

it('tries the blocks of a range at once when it is told to, and counts those tries like any other', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'third', chainId: 3 });
  const row = { cause: 'PROOF_FAILED', message: 'x', upstream: null, payloadDigest: null };
  for (const number of [10, 12, 14])
    await open.database.network('third').quarantine.put({ ...row, number, kinds: ['logs'] });
  expect(await open.database.network('third').quarantine.retry({ start: 12, end: 99 })).toBe(2);
  expect(await open.database.network('nowhere').quarantine.retry({ start: 0, end: 99 })).toBe(0);
  const now = (await open.sql<{ at: Date }>('SELECT clock_timestamp() AS at'))[0]!.at;
  const due = (await open.database.network('third').quarantine.list()).filter((each) => each.nextTry <= now);
  expect(due.map(({ number, attempts }) => [number, attempts])).toEqual([
    [12, 1],
    [14, 1],
  ]);
  const again = await open.database.network('third').quarantine.put({ ...row, number: 12, kinds: ['logs'] });
  expect(again.attempts).toBe(2);
  expect(again.nextTry.getTime()).toBeGreaterThan(now.getTime());
});

const unavailable = { cause: 'BLOCKS_UNAVAILABLE', message: 'x', upstream: null, payloadDigest: null };
const ranges = async (network: string) =>
  (await open.database.network(network).quarantine.list()).map(({ number, end, kinds, attempts }) => [
    number,
    end,
    kinds.join(),
    attempts,
  ]);

it('holds a range as one row, splits it where a part is had or fails once more, and joins what fails alike', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'ranges', chainId: 4 });
  const put = (number: number, end: number) =>
    open.database
      .network('ranges')
      .quarantine.put({ ...unavailable, number, end, kinds: ['logs', 'traces'] });
  await put(100, 199);
  await put(200, 299);
  expect(await ranges('ranges')).toEqual([[100, 299, 'logs,traces', 1]]);
  expect(
    (await open.database.network('ranges').coverage('logs', { start: 250, end: 400 })).quarantined,
  ).toEqual([{ start: 250, end: 299 }]);

  await open.database.network('ranges').quarantine.settle({ start: 150, end: 159 }, ['logs']);
  expect(await ranges('ranges')).toEqual([
    [100, 149, 'logs,traces', 1],
    [150, 159, 'traces', 1],
    [160, 299, 'logs,traces', 1],
  ]);
  await open.database
    .network('ranges')
    .quarantine.settle({ start: 0, end: 199 }, ['blocks', 'logs', 'traces']);
  expect(await ranges('ranges')).toEqual([[200, 299, 'logs,traces', 1]]);

  await put(200, 231);
  expect(await ranges('ranges')).toEqual([[200, 299, 'logs,traces', 1]]);
  await open.database.network('ranges').quarantine.retry({ start: 200, end: 299 });
  await put(200, 231);
  expect(await ranges('ranges')).toEqual([
    [200, 231, 'logs,traces', 2],
    [232, 299, 'logs,traces', 1],
  ]);
  await put(232, 299);
  expect(await ranges('ranges')).toEqual([[200, 299, 'logs,traces', 2]]);
});

it('joins single blocks that fail alike, and a probed cause whatever its attempts, without putting off its next try', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'probed', chainId: 9 });
  const { quarantine } = open.database.network('probed');
  const put = (number: number, cause: string, end = number) =>
    quarantine.put({
      ...unavailable,
      ...{ number, end, cause, kinds: ['logs'] },
      probed: cause === 'NODE_METHOD_MISSING',
    });
  for (const number of [1, 2, 4]) await put(number, 'PROOF_FAILED');
  await put(3, 'RECORD_INVALID');
  expect(await ranges('probed')).toEqual([
    [1, 2, 'logs', 1],
    [3, 3, 'logs', 1],
    [4, 4, 'logs', 1],
  ]);

  let row = await put(10, 'NODE_METHOD_MISSING', 19);
  for (let tries = 2; tries <= 9; tries++) {
    await quarantine.retry({ start: 10, end: 10 });
    row = await put(10, 'NODE_METHOD_MISSING', 19);
  }
  const minutes = (row.nextTry.getTime() - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(9);
  expect(minutes).toBeLessThan(12);
  const longer = await put(20, 'NODE_METHOD_MISSING');
  expect(longer).toMatchObject({ number: 10, end: 20, attempts: 9, nextTry: row.nextTry });
});

it('keeps what each upstream did, and the times of what a change only splits', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'split', chainId: 5 });
  const tried = [{ upstream: 'a', cause: 'PROOF_FAILED', message: 'lies', payloadDigest: 'cd'.repeat(32) }];
  const whole = await open.database.network('split').quarantine.put({
    ...unavailable,
    number: 0,
    end: 9,
    kinds: ['logs'],
    tried,
  });
  await open.database.network('split').quarantine.settle({ start: 5, end: 5 }, ['logs']);
  const rows = await open.database.network('split').quarantine.list();
  expect(rows.map(({ number, end }) => [number, end])).toEqual([
    [0, 4],
    [6, 9],
  ]);
  for (const row of rows) {
    expect(row).toMatchObject({ tried, firstSeen: whole.firstSeen, nextTry: whole.nextTry });
  }
});

it('gives what is due and still wanted, bounded, oldest first', async () => {
  const { networks, wanted } = open.database;
  await networks.register({ id: 'due', chainId: 6 });
  const range = await open.database
    .network('due')
    .wanted.add({ kinds: ['logs'], start: 0, end: 50, priority: 1 });
  for (const number of [10, 20, 30, 60])
    await open.database.network('due').quarantine.put({ ...unavailable, number, kinds: ['logs'] });
  await open.database.network('due').quarantine.put({ ...unavailable, number: 40, kinds: ['traces'] });
  const due = async (finalized = 100, limit = 10) =>
    (await open.database.network('due').quarantine.due({ finalized, limit })).map(({ number }) => number);
  expect(await due()).toEqual([]);
  await open.sql(`UPDATE packhouse.quarantine SET next_try = now() - interval '1 second'`);
  expect((await due()).sort()).toEqual([10, 20, 30]);
  await open.sql(`UPDATE packhouse.quarantine SET next_try = now() - interval '1 hour' WHERE block = 20`);
  expect(await due(100, 1)).toEqual([20]);
  expect(await due(15)).toEqual([10]);
  const { quarantine } = open.database.network('due');
  expect((await quarantine.within({ start: 0, end: 99 })).map((row) => row.due)).not.toContain(false);
  await wanted.change(range.id, { state: 'paused' });
  expect(await due()).toEqual([]);
});

it('lists by cause and page by page, counts by cause, and counts the blocks of a retry', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'pages', chainId: 7 });
  for (const number of [1, 3, 5])
    await open.database.network('pages').quarantine.put({
      ...unavailable,
      cause: 'PROOF_FAILED',
      number,
      kinds: ['logs'],
    });
  await open.database
    .network('pages')
    .quarantine.put({ ...unavailable, number: 100, end: 199, kinds: ['logs'] });
  const first = await open.database.network('pages').quarantine.list({ limit: 2 });
  expect(first.map(({ number }) => number)).toEqual([1, 3]);
  const second = await open.database
    .network('pages')
    .quarantine.list({ after: { network: 'pages', number: 3 } });
  expect(second.map(({ number }) => number)).toEqual([5, 100]);
  expect(await open.database.network('pages').quarantine.list({ cause: 'BLOCKS_UNAVAILABLE' })).toHaveLength(
    1,
  );
  expect(await open.database.network('pages').quarantine.causes()).toEqual([
    { cause: 'BLOCKS_UNAVAILABLE', entries: 1, blocks: 100 },
    { cause: 'PROOF_FAILED', entries: 3, blocks: 3 },
  ]);
  expect(await open.database.network('pages').quarantine.retry({ start: 2, end: 109 })).toBe(12);
  expect(await open.database.network('pages').quarantine.within({ start: 150, end: 150 })).toMatchObject([
    { number: 100, end: 199 },
  ]);
});

it('stays free of overlaps when many change the same part of it at once', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'race', chainId: 8 });
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      i % 5 === 4
        ? open.database.network('race').quarantine.settle({ start: i * 3, end: i * 3 + 4 }, ['logs'])
        : open.database.network('race').quarantine.put({
            ...unavailable,
            number: (i % 7) * 5,
            end: (i % 7) * 5 + i,
            kinds: ['logs'],
          }),
    ),
  );
  const rows = await open.database.network('race').quarantine.list();
  for (const [i, row] of rows.entries()) expect(row.number).toBeGreaterThan(rows[i - 1]?.end ?? -1);
});
