import { createDatabase, type Database, type NewSchedule } from '@packhouse/database';
import { type FreshDatabase, freshDatabase, runSql } from '@packhouse/local';
import type { JobRequest, Recurring } from '@packhouse/queue';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { checkSchedules } from './schedule-loop.js';

const context: Context = {
  logger: createLogger({ name: 'test', level: 'silent' }),
  metrics: createMetrics(),
  clock: systemClock,
  signal: new AbortController().signal,
};
let fresh: FreshDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
});
beforeEach(() => runSql(fresh.url, 'TRUNCATE packhouse.schedule, packhouse.schedule_run'));
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

/** Due at every full hour of the database's clock. */
const hourly: NewSchedule = {
  name: 'hourly',
  owner: 'default',
  cron: '0 * * * *',
  zone: 'UTC',
  everyMs: null,
  missed: 'once',
  command: ['status'],
  setting: null,
};
const HOUR = 3_600_000;

/** One check of the leader; returns what it made of the queue. */
async function leaderLooks(ofSettings: Record<string, NewSchedule[]> = {}) {
  let repeated: readonly Recurring[] = [];
  const added: JobRequest<'schedule'>[] = [];
  const queues = {
    repeat: async (recurring: readonly Recurring[]) => {
      repeated = recurring;
    },
    add: async (_: string, jobs: readonly JobRequest<never>[]) => void added.push(...jobs),
  };
  await checkSchedules({ context, database, queues, ofSettings, checked: async () => undefined });
  return { repeated, due: added.map(({ payload }) => payload.due as number) };
}

/** Adds the schedule as if so many hours ago, and none was checked since. Returns its last due time, of 10 minutes ago. */
async function addedBefore(hours: number, schedule = hourly): Promise<number> {
  const last = new Date(Date.now() - 600_000);
  last.setUTCSeconds(0, 0);
  await database.schedules.add({ ...schedule, cron: `${last.getUTCMinutes()} * * * *` }, 'ada');
  await runSql(
    fresh.url,
    `UPDATE packhouse.schedule SET since = now() - interval '${hours} hours', checked_at = now() - interval '${hours} hours'`,
  );
  return last.getTime();
}

const history = async () =>
  (await database.schedules.runs('hourly', { limit: 99 })).map(({ due, outcome, message }) => [
    due.getTime(),
    outcome,
    message,
  ]);

test('what the queue repeats is what the table says, without what is paused', async () => {
  await database.schedules.add(hourly, 'ada');
  await database.schedules.add({ ...hourly, name: 'resting' }, 'ada');
  await database.schedules.setPaused('resting', true, 'ada');
  const audit = { ...hourly, name: 'audit', cron: null, zone: null, everyMs: HOUR, setting: 'AUDIT_EVERY' };
  const { repeated, due } = await leaderLooks({ AUDIT_EVERY: [audit] });
  const since = (await database.schedules.list()).schedules[0]?.since.getTime() as number;
  expect(repeated).toEqual([
    { schedule: 'audit', everyMs: HOUR, from: since + 300_000 },
    { schedule: 'hourly', pattern: '0 * * * *', zone: 'UTC' },
  ]);
  expect(due).toEqual([]);
  expect((await leaderLooks({ AUDIT_EVERY: [] })).repeated).toHaveLength(1);
});

test('after an absence the newest missed time is run once, and the others are named', async () => {
  const last = await addedBefore(5);
  expect((await leaderLooks()).due).toEqual([last]);
  const message = 'No run began at this time, nor at 3 before it.';
  expect(await history()).toEqual([[last - HOUR, 'missed', message]]);
  // It is asked for until it begins, and then had its run.
  expect((await leaderLooks()).due).toEqual([last]);
  await database.schedules.begin('hourly', new Date(last), true);
  expect((await leaderLooks()).due).toEqual([]);
});

test('a schedule that skips missed times names them alone', async () => {
  const last = await addedBefore(3, { ...hourly, missed: 'skip' });
  expect((await leaderLooks()).due).toEqual([]);
  expect(await history()).toEqual([[last, 'missed', 'No run began at this time, nor at 2 before it.']]);
  expect((await leaderLooks()).due).toEqual([]);
});

test('a time that only the queue lost is run, also by a schedule that skips', async () => {
  const last = await addedBefore(3, { ...hourly, missed: 'skip' });
  await database.schedules.begin('hourly', new Date(last - HOUR), true);
  await database.schedules.noteCheck('hourly', new Date(last + 30_000));
  expect((await leaderLooks()).due).toEqual([last]);
});

test('a missed time before one that had its run is named, not run', async () => {
  const last = await addedBefore(3);
  await database.schedules.begin('hourly', new Date(last), true);
  await database.schedules.end('hourly', new Date(last), { outcome: 'done', exitCode: 0, message: null });
  expect((await leaderLooks()).due).toEqual([]);
  expect((await history()).map(([due, outcome]) => [due, outcome])).toEqual([
    [last, 'done'],
    [last - HOUR, 'missed'],
  ]);
});

test('times before it was added or resumed are not its own', async () => {
  await addedBefore(9);
  await database.schedules.setPaused('hourly', true, 'ada');
  expect((await leaderLooks()).due).toEqual([]);
  await database.schedules.setPaused('hourly', false, 'ada');
  expect((await leaderLooks()).due).toEqual([]);
  expect(await history()).toEqual([]);
});
