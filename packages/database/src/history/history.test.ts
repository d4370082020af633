import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Fence } from '../connection/leases.js';
import { type OpenDatabase, openDatabase } from '../testing/open-database.js';
import { HISTORY_FIGURES, MAX_SERIES } from './figures.js';
import type { Figures, HistorySample } from './samples.js';

let open: OpenDatabase;
let fence: Fence;
beforeAll(async () => {
  open = await openDatabase();
  fence = (await open.database.tryLock('history'))!.fence;
});
afterAll(() => open.close());
beforeEach(() =>
  open.sql(
    `TRUNCATE packhouse.history_series, packhouse.history_minute, packhouse.history_recent, packhouse.history_hour,
      packhouse.history_day RESTART IDENTITY`,
  ),
);

/** An hour in the year 2026, since 1970-01-01. */
const HOUR = 500_000;
const NONE: Figures = HISTORY_FIGURES.installation.map(() => 0);

function sample(minute: number, named: Record<string, Record<string, Figures>> = {}): HistorySample {
  const of = (subject: string) => new Map(Object.entries(named[subject] ?? {}));
  return {
    minute,
    installation: NONE,
    named: { network: of('network'), node: of('node'), provider: of('provider'), key: of('key') },
  };
}
const ofKey = (calls: number): Figures => [calls, 0, 0, 0, 0];

const read = (
  subject: 'key' | 'network',
  name: string,
  unit: 'minute' | 'hour',
  first: number,
  last: number,
) => open.database.history.read({ subject, name, unit, first, last });

it('writes one sample a minute, of all that try, and none after the lease is gone', async () => {
  const writer = await open.database.history.writer();
  const minute = HOUR * 60;
  expect(await writer.write(sample(minute, { key: { 7: ofKey(1) } }), fence)).toEqual(
    new Map(['network', 'node', 'provider', 'key'].map((subject) => [subject, 0])),
  );
  // By the clock of Postgres, which was set back.
  expect(await writer.write(sample(minute, { key: { 7: ofKey(9), 8: ofKey(9) } }), fence)).toBeNull();
  const other = open.another();
  const late = { ...fence, token: fence.token - 1 };
  const slow = await other.history.writer();
  await expect(slow.write(sample(minute + 1, { key: { 7: ofKey(5) } }), late)).rejects.toMatchObject({
    code: 'LEASE_LOST',
  });
  await expect(other.history.rollUp(HOUR + 1, late)).rejects.toMatchObject({ code: 'LEASE_LOST' });
  const { samples, sampled, kept } = await read('key', '7', 'minute', minute, minute + 5);
  expect(samples).toEqual(new Map([[minute, ofKey(1)]]));
  expect(sampled).toEqual(new Set([minute]));
  expect(kept).toBe('own');
  expect((await read('key', '8', 'minute', minute, minute)).samples).toEqual(new Map());
});

it('keeps figures as they were through the roll-up, however often it is done, and adds the mean of the hour', async () => {
  const writer = await open.database.history.writer();
  const first = HOUR * 60;
  const lag = (blocks: number | null): Figures => [1, 2, blocks, null, 0, 0];
  for (const [at, calls] of [3, 0, 6].entries()) {
    // The second minute has no row of the key, and the fourth has no sample.
    const named: Record<string, Record<string, Figures>> = calls === 0 ? {} : { key: { 7: ofKey(calls) } };
    await writer.write(
      sample(first + at, { ...named, network: { main: lag(calls === 0 ? null : calls) } }),
      fence,
    );
  }
  await writer.write(sample(first + 60, { key: { 7: ofKey(1) } }), fence);
  const before = await read('key', '7', 'minute', first, first + 60);
  expect(await open.database.history.rollUp(HOUR + 1, fence)).toBe(1);
  expect(await open.database.history.rollUp(HOUR + 1, fence)).toBe(0);
  const after = await read('key', '7', 'minute', first, first + 60);
  expect(after).toEqual(before);
  expect(after.sampled).toEqual(new Set([first, first + 1, first + 2, first + 60]));
  // A minute of an hour that was rolled up is not sampled again.
  expect(await writer.write(sample(first + 1, { key: { 7: ofKey(100) } }), fence)).toBeNull();
  expect(await open.database.history.rollUp(HOUR + 1, fence)).toBe(0);

  const hours = await read('key', '7', 'hour', HOUR, HOUR);
  expect(hours.samples).toEqual(new Map([[HOUR, ofKey(3)]]));
  const network = await read('network', 'main', 'hour', HOUR, HOUR);
  expect(network.samples.get(HOUR)).toEqual([1, 2, 4.5, null, 0, 0]);
  await open.database.history.rollUp(HOUR + 2, fence);
  expect((await read('key', '7', 'hour', HOUR, HOUR + 1)).samples.get(HOUR + 1)).toEqual(ofKey(1));
});

it('has no row more than it may after months, and loses little if the clock is wrong for a while', async () => {
  await open.sql(`INSERT INTO packhouse.history_series (subject, name) VALUES ('installation', 'all')`);
  await open.sql(`INSERT INTO packhouse.history_hour (hour, series, minutes, figures)
    SELECT ${HOUR} - n, 1, '{0}', '{{1}}' FROM generate_series(1, 300) AS n`);
  await open.sql(`INSERT INTO packhouse.history_day (day, series, hours, figures)
    SELECT ${Math.floor(HOUR / 24)} - n, 1, '{0}', '{{1}}' FROM generate_series(0, 400) AS n`);
  const count = async () => {
    const [row] = await open.sql<{ hours: number; days: number }>(`SELECT
      (SELECT count(*)::int4 FROM packhouse.history_hour) AS hours,
      (SELECT count(*)::int4 FROM packhouse.history_day) AS days`);
    return [row?.hours, row?.days];
  };
  // In the year 2083 for one hour: of 300 hours, two are gone.
  await open.database.history.rollUp(HOUR * 2, fence);
  expect(await count()).toEqual([298, 400]);
  for (let times = 0; times < 80; times++) await open.database.history.rollUp(HOUR, fence);
  expect(await count()).toEqual([168, 367]);
});

it('sums what has no series of its own, tells how much that is, and finds room in what was silent for a week', async () => {
  const { history } = open.database;
  const writer = await history.writer({ ...MAX_SERIES, key: 2 });
  const minute = HOUR * 60;
  const hostile = `"}; DROP TABLE x; -- <script>\u202e${'é'.repeat(250)}`;
  const keys = { 1: ofKey(1), 2: ofKey(2), 3: ofKey(4), 4: ofKey(8) };
  const network = { [hostile]: [5, 5, 5, 5, 5, 5], ['x'.repeat(301)]: [1, 1, 1, 1, 1, 1] };
  const summed = await writer.write(sample(minute, { key: keys, network }), fence);
  expect(summed?.get('key')).toBe(2);
  expect(summed?.get('network')).toBe(1);
  expect((await read('key', '1', 'minute', minute, minute)).samples.get(minute)).toEqual(ofKey(1));
  expect(await read('key', '3', 'minute', minute, minute)).toMatchObject({
    kept: 'others',
    samples: new Map(),
  });
  expect((await read('key', '', 'minute', minute, minute)).samples.get(minute)).toEqual(ofKey(12));
  expect((await read('network', hostile, 'minute', minute, minute)).samples.get(minute)).toHaveLength(6);
  // Lags have no sum.
  expect((await read('network', '', 'minute', minute, minute)).samples.get(minute)).toEqual([
    1,
    1,
    null,
    null,
    1,
    1,
  ]);

  await open.sql('TRUNCATE packhouse.history_minute');
  await open.sql(`INSERT INTO packhouse.history_day (day, series, hours, figures)
    SELECT 1, id, '{0}', '{{1}}' FROM packhouse.history_series WHERE subject = 'key' AND name = '1'`);
  const later = await history.writer({ ...MAX_SERIES, key: 2 });
  expect((await later.write(sample(minute, { key: { 2: ofKey(2), 3: ofKey(4) } }), fence))?.get('key')).toBe(
    0,
  );
  expect((await read('key', '3', 'minute', minute, minute)).kept).toBe('own');
  expect((await read('key', '1', 'minute', minute, minute)).kept).toBe('others');
  expect(await open.sql('SELECT FROM packhouse.history_day')).toEqual([]);
});

it('keeps no figure that is none, and one of all series can be read at once', async () => {
  const writer = await open.database.history.writer();
  const minute = HOUR * 60 + 59;
  const named = { node: { a: [Number.NaN, Number.POSITIVE_INFINITY, 1e300, -1, null], b: [1, 2, 3, 4, 5] } };
  await writer.write(sample(minute, named), fence);
  await open.database.history.rollUp(HOUR + 1, fence);
  const next = { node: { ...named.node, b: [3, 2, 3, 4, 5] } };
  await writer.write(sample(minute + 1, next), fence);
  const recent = (first: number, stepMinutes: number) =>
    open.database.history.recent({ subject: 'node', first, last: minute + 2, stepMinutes });
  expect(await recent(minute - 1, 1)).toEqual([
    { name: 'a', points: [null, null, null, null] },
    { name: 'b', points: [null, 1, 3, null] },
  ]);
  expect((await recent(minute, 2))[1]?.points).toEqual([2, null]);
  // Two hours later nothing of it is kept.
  await writer.write(sample(minute + 122, { node: { b: [1, 0, 0, 0, 0] } }), fence);
  expect(await recent(minute, 1)).toEqual([]);
  const { samples } = await open.database.history.read({
    subject: 'node',
    name: 'a',
    unit: 'minute',
    first: minute,
    last: minute,
  });
  expect(samples.get(minute)).toEqual([null, null, null, -1, null]);
});
