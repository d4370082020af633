import { type Database, type NewSchedule, type Schedule, withLock } from '@packhouse/database';
import { lastDues, type Queues, type Recurring } from '@packhouse/queue';
import { type Context, repeat } from '@packhouse/runtime';
import { LATE_MS } from './run-schedule.js';

interface ScheduleLoopParts {
  context: Context;
  database: Database;
  queues: Pick<Queues, 'add' | 'repeat'>;
  /** The schedules of each setting. */
  ofSettings: Readonly<Record<string, readonly NewSchedule[]>>;
  /** Called at every check of the leader. */
  checked(): Promise<void>;
}

type Listed = Schedule & { last: { due: Date } | null };

/** How often the leader checks the schedules, in milliseconds; the others, whether there is a leader. */
const CHECK_EVERY_MS = 5_000;
/** What repeats every so often does not begin before it is this old, in milliseconds. */
const SETTLE_MS = 300_000;

/**
 * Keeps what the queue repeats as the table of schedules says, and finds times that had no run, until the context is
 * aborted. One packer at a time does, the leader.
 */
export function scheduleLoop(parts: ScheduleLoopParts): Promise<void> {
  const { context, database } = parts;
  const failed = 'the schedules could not be checked';
  return repeat(context, { everyMs: CHECK_EVERY_MS, failed }, () =>
    withLock(database, 'schedule', context.signal, async (signal) => {
      while (!signal.aborted) {
        await checkSchedules(parts);
        await context.clock.sleep(CHECK_EVERY_MS, signal).catch(() => undefined);
      }
    }),
  );
}

/** One check of the leader. Every step may be repeated. */
export async function checkSchedules(parts: ScheduleLoopParts): Promise<void> {
  const { database, queues, ofSettings, checked } = parts;
  for (const [setting, schedules] of Object.entries(ofSettings)) {
    await database.schedules.keepOfSetting(setting, schedules);
  }
  await database.schedules.sweep();
  const before = await database.schedules.list();
  for (const schedule of before.schedules) {
    if (schedule.paused) continue;
    await findMissed(database, schedule, before.now.getTime());
    await database.schedules.noteCheck(schedule.name, before.now);
  }
  const { schedules } = await database.schedules.list();
  await queues.repeat(schedules.filter(({ paused }) => !paused).map(toRecurring));
  const jobs = schedules.flatMap(({ name, requestedAt }) => {
    const due = requestedAt?.getTime();
    const payload = { schedule: name, due };
    return due === undefined ? [] : [{ id: `${name}.${due}`, payload, priority: 1 }];
  });
  await queues.add('schedule', jobs);
  await checked();
}

/**
 * Decides on times of more than a minute ago that have no run. The newest is run now if a packer lived (the queue lost
 * it) or the schedule says so, unless a later time had its run; the others are noted as missed.
 */
async function findMissed(database: Database, schedule: Schedule, now: number): Promise<void> {
  const { name, cron, zone, since, checkedAt, missed } = schedule;
  const after = Math.max(since.getTime(), checkedAt.getTime() - LATE_MS);
  if (cron === null || zone === null || after >= now - LATE_MS) return;
  const { dues, more } = lastDues({ pattern: cron, zone }, after, now - LATE_MS);
  const [first] = dues;
  if (first === undefined) return;
  const runs = await database.schedules.runs(name, { limit: 2 * dues.length, from: new Date(first) });
  const had = new Set(runs.map(({ due }) => due.getTime()));
  const missing = dues.filter((due) => !had.has(due));
  const last = missing.pop();
  if (last === undefined) return;
  const newest = Math.max(...had, 0) < last;
  const due = newest && (missed === 'once' || last <= checkedAt.getTime());
  const requested = due && (await database.schedules.requestMissedRun(name, new Date(last)));
  const noted = requested ? missing.pop() : last;
  if (noted === undefined) return;
  const others = missing.length === 0 ? '' : `, nor at ${missing.length}${more ? ' or more' : ''} before it`;
  await database.schedules.noteMissed(name, new Date(noted), `No run began at this time${others}.`);
}

function toRecurring({ name, cron, zone, everyMs, since, last }: Listed): Recurring {
  if (cron !== null && zone !== null) return { schedule: name, pattern: cron, zone };
  const every = everyMs ?? 0;
  const from = last === null ? since.getTime() + Math.min(SETTLE_MS, every) : last.due.getTime() + every;
  return { schedule: name, everyMs: every, from };
}
