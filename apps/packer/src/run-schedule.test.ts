import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDatabase, type Database, type ScheduleRun } from '@packhouse/database';
import { type FreshDatabase, freshDatabase, runSql } from '@packhouse/local';
import { createQueues } from '@packhouse/queue';
import { type Context, createLogger, createMetrics, systemClock } from '@packhouse/runtime';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { runSchedule } from './run-schedule.js';
import { scheduleLoop } from './schedule-loop.js';

/** Prints more than is kept; `wait` waits to be told to end. */
const CLI = `
const [word] = process.argv.slice(2);
process.stdout.write('x'.repeat(100_000) + '\\n');
if (word === 'wait') { process.on('SIGTERM', () => process.exit(75)); setInterval(() => {}, 1000); console.log('waits'); }
else if (word === 'fail') { console.error('packhouse: unknown command at http://u:secret@host/key [USAGE]'); process.exitCode = 64; }
else console.log('audited for', process.env.PACKHOUSE_OPERATOR, '\\n');
`;

let fresh: FreshDatabase;
let database: Database;
let directory: string;
let cli: string;
const getContext = (signal: AbortSignal): Context => ({
  logger: createLogger({ name: 'test', level: 'silent' }),
  metrics: createMetrics(),
  clock: systemClock,
  signal,
});
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'packhouse-packer-'));
  cli = path.join(directory, 'cli.mjs');
  await writeFile(cli, CLI);
  fresh = await freshDatabase(inject('postgresUrl'), { migrated: true });
  const context = getContext(new AbortController().signal);
  database = createDatabase({ connectionString: fresh.url, context, applicationName: 'test' });
});
beforeEach(() => runSql(fresh.url, 'TRUNCATE packhouse.schedule, packhouse.schedule_run'));
afterAll(async () => {
  await database.close();
  await fresh.drop();
  await rm(directory, { recursive: true, force: true });
});

const add = (name: string, command: string[]) =>
  database.schedules.add(
    {
      name,
      owner: 'default',
      cron: '0 3 29 2 *',
      zone: 'UTC',
      everyMs: null,
      missed: 'once',
      command,
      setting: null,
    },
    'ada',
  );
const getParts = (context: Context) => ({
  context,
  cut: new AbortController().signal,
  database,
  cli,
  env: process.env,
  builtIn: {},
});
const take = (context: Context, schedule: string, due?: number) =>
  runSchedule(getParts(context), {
    id: 'x',
    payload: { schedule },
    due,
    attempt: 1,
    signal: context.signal,
  });
const runs = (name: string): Promise<ScheduleRun[]> => database.schedules.runs(name, { limit: 9 });
const now = async (): Promise<number> => (await database.schedules.list()).now.getTime();

test('a run that is asked for goes from the table by the queue to a process, and its outcome back', async () => {
  const stop = new AbortController();
  const context = getContext(stop.signal);
  const quick: Context = {
    ...context,
    clock: { ...systemClock, sleep: (_, signal) => systemClock.sleep(20, signal) },
  };
  const queues = await createQueues({ databaseUrl: fresh.url, context, prefix: 'runs' });
  await add('nightly', ['audit']);
  await add('broken', ['fail']);
  await database.schedules.requestRun('nightly', 'ada');
  await database.schedules.requestRun('broken', 'ada');
  // Two packers.
  const loops = [1, 2].map(() =>
    scheduleLoop({ context: quick, database, queues, ofSettings: {}, checked: async () => undefined }),
  );
  await queues.work('schedule', (job) => runSchedule(getParts(context), job), { concurrency: 4 });
  const outcome = async (name: string) => (await runs(name)).map((run) => run.outcome);
  await expect.poll(() => outcome('nightly'), { timeout: 120_000 }).toEqual(['done']);
  await expect.poll(() => outcome('broken'), { timeout: 120_000 }).toEqual(['failed']);
  expect((await runs('nightly'))[0]).toMatchObject({ exitCode: 0, message: 'audited for schedule nightly' });
  const [broken] = await runs('broken');
  expect(broken).toMatchObject({
    exitCode: 64,
    message: expect.stringMatching(/^packhouse: unknown command .*USAGE/),
  });
  expect(broken?.message).not.toContain('secret');
  expect(await context.metrics.render()).toContain(
    'packhouse_schedule_runs_total{schedule="broken",outcome="failed"} 1',
  );
  stop.abort();
  await Promise.all(loops);
  await queues.close();
});

test('a run that its packer is shut down under is told to end, and noted so; none begins beside it', async () => {
  const stop = new AbortController();
  await add('long', ['wait']);
  const due = await now();
  const running = take(getContext(stop.signal), 'long', due);
  await expect.poll(async () => (await runs('long')).length, { timeout: 60_000 }).toBe(1);
  const other = getContext(new AbortController().signal);
  await take(other, 'long', due + 1);
  await take(other, 'long', due);
  stop.abort(new Error('shutting down'));
  await running;
  expect((await runs('long')).map(({ outcome, message }) => [outcome, message])).toEqual([
    ['skipped', 'The run before it still ran.'],
    ['failed', 'Its packer was shut down while it ran.'],
  ]);
});

test('what comes too late, too early, twice, for nobody or while it is paused does not run', async () => {
  const context = getContext(new AbortController().signal);
  await add('nightly', ['audit']);
  await runSql(fresh.url, "UPDATE packhouse.schedule SET since = now() - interval '1 day'");
  const due = await now();
  await take(context, 'nightly', due - 120_000);
  await take(context, 'nightly', due + 120_000);
  await take(context, 'nightly');
  await take(context, 'nobody', due);
  await database.schedules.setPaused('nightly', true, 'ada');
  await take(context, 'nightly', due);
  expect(await runs('nightly')).toEqual([]);
  await database.schedules.requestRun('nightly', 'ada');
  const asked = (await database.schedules.list()).schedules[0]?.requestedAt?.getTime() as number;
  await take(context, 'nightly', asked);
  // The clock of a machine went back.
  await take(context, 'nightly', asked);
  expect((await runs('nightly')).map(({ outcome }) => outcome)).toEqual(['done']);
});
