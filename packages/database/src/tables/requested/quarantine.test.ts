import { KINDS } from '@packhouse/chain';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenDatabase, openDatabase } from '../../testing/open-database.js';

let open: OpenDatabase;
beforeAll(async () => {
  open = await openDatabase();
});
afterAll(() => open.close());

it('tries again after 1, 2, 4 … minutes, and every day in the end', async () => {
  const put = () =>
    open.main.quarantine.put({
      firstBlock: 7,
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
    await open.main.quarantine.retry({ firstBlock: 7, lastBlock: 7 });
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
  const row = { firstBlock: 9, cause: 'RECORD_INVALID', message: 'x', upstream: null, payloadDigest: null };
  await open.database.network('second').quarantine.put({ ...row, kinds: ['logs'] });
  await open.database.network('second').quarantine.put({ ...row, kinds: ['blocks'] });
  expect(await open.database.network('second').quarantine.list()).toMatchObject([
    { network: 'second', firstBlock: 9, kinds: ['blocks', 'logs'] },
  ]);
  expect((await quarantine.list()).map(({ network }) => network)).toContain('second');
  await open.database.network('second').quarantine.settle({ firstBlock: 9, lastBlock: 9 }, KINDS);
  await open.database.network('nowhere').quarantine.settle({ firstBlock: 9, lastBlock: 9 }, KINDS);
  expect(await open.database.network('second').quarantine.list()).toEqual([]);
});

it('tries the blocks of a range at once when it is told to, and counts those tries like any other', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'third', chainId: 3 });
  const row = { cause: 'PROOF_FAILED', message: 'x', upstream: null, payloadDigest: null };
  for (const firstBlock of [10, 12, 14])
    await open.database.network('third').quarantine.put({ ...row, firstBlock, kinds: ['logs'] });
  expect(await open.database.network('third').quarantine.retry({ firstBlock: 12, lastBlock: 99 })).toBe(2);
  expect(await open.database.network('nowhere').quarantine.retry({ firstBlock: 0, lastBlock: 99 })).toBe(0);
  const now = (await open.sql<{ at: Date }>('SELECT clock_timestamp() AS at'))[0]!.at;
  const due = (await open.database.network('third').quarantine.list()).filter((each) => each.nextTry <= now);
  expect(due.map(({ firstBlock, attempts }) => [firstBlock, attempts])).toEqual([
    [12, 1],
    [14, 1],
  ]);
  const again = await open.database
    .network('third')
    .quarantine.put({ ...row, firstBlock: 12, kinds: ['logs'] });
  expect(again.attempts).toBe(2);
  expect(again.nextTry.getTime()).toBeGreaterThan(now.getTime());
});

const unavailable = { cause: 'BLOCKS_UNAVAILABLE', message: 'x', upstream: null, payloadDigest: null };
const ranges = async (network: string) =>
  (await open.database.network(network).quarantine.list()).map(
    ({ firstBlock, lastBlock, kinds, attempts }) => [firstBlock, lastBlock, kinds.join(), attempts],
  );

it('holds a range as one row, splits it where a part is had or fails once more, and joins what fails alike', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'ranges', chainId: 4 });
  const put = (firstBlock: number, lastBlock: number) =>
    open.database
      .network('ranges')
      .quarantine.put({ ...unavailable, firstBlock, lastBlock, kinds: ['logs', 'traces'] });
  await put(100, 199);
  await put(200, 299);
  expect(await ranges('ranges')).toEqual([[100, 299, 'logs,traces', 1]]);
  expect(
    (await open.database.network('ranges').coverage('logs', { firstBlock: 250, lastBlock: 400 })).quarantined,
  ).toEqual([{ firstBlock: 250, lastBlock: 299 }]);

  await open.database.network('ranges').quarantine.settle({ firstBlock: 150, lastBlock: 159 }, ['logs']);
  expect(await ranges('ranges')).toEqual([
    [100, 149, 'logs,traces', 1],
    [150, 159, 'traces', 1],
    [160, 299, 'logs,traces', 1],
  ]);
  await open.database
    .network('ranges')
    .quarantine.settle({ firstBlock: 0, lastBlock: 199 }, ['blocks', 'logs', 'traces']);
  expect(await ranges('ranges')).toEqual([[200, 299, 'logs,traces', 1]]);

  await put(200, 231);
  expect(await ranges('ranges')).toEqual([[200, 299, 'logs,traces', 1]]);
  await open.database.network('ranges').quarantine.retry({ firstBlock: 200, lastBlock: 299 });
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
  const put = (firstBlock: number, cause: string, lastBlock = firstBlock) =>
    quarantine.put({
      ...unavailable,
      firstBlock,
      lastBlock,
      cause,
      kinds: ['logs'],
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
    await quarantine.retry({ firstBlock: 10, lastBlock: 10 });
    row = await put(10, 'NODE_METHOD_MISSING', 19);
  }
  const minutes = (row.nextTry.getTime() - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(9);
  expect(minutes).toBeLessThan(12);
  const longer = await put(20, 'NODE_METHOD_MISSING');
  expect(longer).toMatchObject({ firstBlock: 10, lastBlock: 20, attempts: 9, nextTry: row.nextTry });
});

it('keeps what each upstream did, and the times of what a change only splits', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'split', chainId: 5 });
  const tried = [{ upstream: 'a', cause: 'PROOF_FAILED', message: 'lies', payloadDigest: 'cd'.repeat(32) }];
  const whole = await open.database.network('split').quarantine.put({
    ...unavailable,
    firstBlock: 0,
    lastBlock: 9,
    kinds: ['logs'],
    tried,
  });
  await open.database.network('split').quarantine.settle({ firstBlock: 5, lastBlock: 5 }, ['logs']);
  const rows = await open.database.network('split').quarantine.list();
  expect(rows.map(({ firstBlock, lastBlock }) => [firstBlock, lastBlock])).toEqual([
    [0, 4],
    [6, 9],
  ]);
  for (const row of rows) {
    expect(row).toMatchObject({ tried, firstSeen: whole.firstSeen, nextTry: whole.nextTry });
  }
});

it('keeps a finding until the same kinds of the same upstream were asked for again', async () => {
  const { quarantine } = open.database.network('finding');
  await open.database.networks.register({ id: 'finding', chainId: 77 });
  const attempt = (upstream: string, cause: string) => ({
    upstream,
    cause,
    message: cause,
    payloadDigest: null,
  });
  const request = (upstream: string, cause: string, kinds: readonly ('receipts' | 'traces')[]) => ({
    ...attempt(upstream, cause),
    firstBlock: 5,
    kinds,
    tried: [attempt(upstream, cause)],
  });
  const cause = async () =>
    (await quarantine.list()).map((row) => [row.cause, row.upstream, row.tried.length]);
  await quarantine.put(request('a', 'PROOF_FAILED', ['receipts']));
  // other kinds of the same upstream, then the same of another one
  await quarantine.put(request('a', 'NODE_ANSWER_MISSING', ['traces']));
  expect(await cause()).toEqual([['PROOF_FAILED', 'a', 2]]);
  await quarantine.put(request('b', 'NODE_ANSWER_MISSING', ['receipts', 'traces']));
  expect(await cause()).toEqual([['PROOF_FAILED', 'a', 3]]);
  await quarantine.put(request('b', 'NODE_TIMEOUT', ['receipts', 'traces']));
  expect((await quarantine.list())[0]).toMatchObject({ cause: 'PROOF_FAILED', message: 'PROOF_FAILED' });
  // what covers more than the row is cut at it
  await quarantine.put({ ...request('b', 'NODE_ANSWER_MISSING', ['receipts']), firstBlock: 3, lastBlock: 9 });
  expect(
    (await quarantine.list()).map((row) => [row.firstBlock, row.lastBlock, row.cause, row.upstream]),
  ).toEqual([
    [3, 4, 'NODE_ANSWER_MISSING', 'b'],
    [5, 5, 'PROOF_FAILED', 'a'],
    [6, 9, 'NODE_ANSWER_MISSING', 'b'],
  ]);
  await quarantine.settle({ firstBlock: 3, lastBlock: 4 }, ['receipts', 'traces']);
  await quarantine.put({ ...request('a', 'PROOF_FAILED', ['receipts']), lastBlock: 9 });
  await quarantine.put({ ...request('a', 'NODE_ANSWER_MISSING', ['receipts', 'traces']), lastBlock: 9 });
  expect(await cause()).toEqual([['NODE_ANSWER_MISSING', 'a', 1]]);
});

it('gives what is due and still wanted, bounded, oldest first', async () => {
  const { networks, backfills } = open.database;
  await networks.register({ id: 'due', chainId: 6 });
  const range = await open.database
    .network('due')
    .backfills.add({ kinds: ['logs'], from: 0, to: 50, priority: 1 });
  for (const firstBlock of [10, 20, 30, 60])
    await open.database.network('due').quarantine.put({ ...unavailable, firstBlock, kinds: ['logs'] });
  await open.database.network('due').quarantine.put({ ...unavailable, firstBlock: 40, kinds: ['traces'] });
  const due = async (finalized = 100, limit = 10) =>
    (await open.database.network('due').quarantine.due({ finalized, limit })).map(
      ({ firstBlock }) => firstBlock,
    );
  expect(await due()).toEqual([]);
  await open.sql(`UPDATE packhouse.quarantine SET next_try = now() - interval '1 second'`);
  expect((await due()).sort()).toEqual([10, 20, 30]);
  await open.sql(
    `UPDATE packhouse.quarantine SET next_try = now() - interval '1 hour' WHERE first_block = 20`,
  );
  expect(await due(100, 1)).toEqual([20]);
  expect(await due(15)).toEqual([10]);
  const { quarantine } = open.database.network('due');
  expect((await quarantine.within({ firstBlock: 0, lastBlock: 99 })).map((row) => row.due)).not.toContain(
    false,
  );
  await backfills.change(range.id, { state: 'paused' });
  expect(await due()).toEqual([]);
});

it('lists by cause and page by page, counts by cause, and counts the blocks of a retry', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'pages', chainId: 7 });
  for (const firstBlock of [1, 3, 5])
    await open.database.network('pages').quarantine.put({
      ...unavailable,
      cause: 'PROOF_FAILED',
      firstBlock,
      kinds: ['logs'],
    });
  await open.database
    .network('pages')
    .quarantine.put({ ...unavailable, firstBlock: 100, lastBlock: 199, kinds: ['logs'] });
  const first = await open.database.network('pages').quarantine.list({ limit: 2 });
  expect(first.map(({ firstBlock }) => firstBlock)).toEqual([1, 3]);
  const second = await open.database
    .network('pages')
    .quarantine.list({ after: { network: 'pages', number: 3 } });
  expect(second.map(({ firstBlock }) => firstBlock)).toEqual([5, 100]);
  expect(await open.database.network('pages').quarantine.list({ cause: 'BLOCKS_UNAVAILABLE' })).toHaveLength(
    1,
  );
  const times = { firstSeen: expect.any(Date), nextTry: expect.any(Date) };
  expect(await open.database.network('pages').quarantine.causes()).toEqual([
    { cause: 'BLOCKS_UNAVAILABLE', entries: 1, blocks: 100, ...times },
    { cause: 'PROOF_FAILED', entries: 3, blocks: 3, ...times },
  ]);
  expect(await open.database.network('pages').quarantine.retry({ firstBlock: 2, lastBlock: 109 })).toBe(12);
  expect(
    await open.database.network('pages').quarantine.within({ firstBlock: 150, lastBlock: 150 }),
  ).toMatchObject([{ firstBlock: 100, lastBlock: 199 }]);
});

it('stays free of overlaps when many change the same part of it at once', async () => {
  const { networks } = open.database;
  await networks.register({ id: 'race', chainId: 8 });
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      i % 5 === 4
        ? open.database
            .network('race')
            .quarantine.settle({ firstBlock: i * 3, lastBlock: i * 3 + 4 }, ['logs'])
        : open.database.network('race').quarantine.put({
            ...unavailable,
            firstBlock: (i % 7) * 5,
            lastBlock: (i % 7) * 5 + i,
            kinds: ['logs'],
          }),
    ),
  );
  const rows = await open.database.network('race').quarantine.list();
  for (const [i, row] of rows.entries()) expect(row.firstBlock).toBeGreaterThan(rows[i - 1]?.lastBlock ?? -1);
});
