import type { Database, NewSchedule, Schedule } from '@packhouse/database';
import { lastDues, type Queues, type Recurring } from '@packhouse/queue';
import type { Context } from '@packhouse/runtime';
import { LATE_MS } from './run-schedule.js';

interface ScheduleLoopParts {
  context: Context;
  database: Database;
  queues: Pick<Queues, 'add' | 'repeat'>;
  /** The schedules of each setting. */
  ofSettings: Readonly<Record<string, readonly NewSchedule[]>>;
  /** Called at every look of the leader. */
  looked(): Promise<void>;
}

type Listed = Schedule & { last: { due: Date } | null };

/** How often the leader looks at the schedules, in milliseconds; the others, whether there is a leader. */
const LOOK_EVERY_MS = 5_000;
/** What repeats every so often does not begin before it is this old, in milliseconds. */
const SETTLE_MS = 300_000;

/**
 * Keeps what the queue repeats as the table of schedules says, and finds times that had no run, until the context is
 * aborted. One packer at a time does, the leader.
 */
export async function scheduleLoop(parts: ScheduleLoopParts): Promise<void> {
  const { context, database } = parts;
  const pause = (): Promise<void> =>
    context.clock.sleep(LOOK_EVERY_MS, context.signal).catch(() => undefined);
  while (!context.signal.aborted) {
    try {
      const lock = await database.tryLock('schedule');
      try {
        while (lock !== null && !lock.lost.aborted && !context.signal.aborted) {
          await look(parts);
          await pause();
        }
      } finally {
        await lock?.release();
      }
    } catch (error) {
      if (!context.signal.aborted) {
        context.logger.warn({ err: error }, 'the schedules could not be looked at; it is tried again');
      }
    }
    await pause();
  }
}

/** One look of the leader. Every step may be repeated. */
export async function look({ database, queues, ofSettings, looked }: ScheduleLoopParts): Promise<void> {
  for (const [setting, schedules] of Object.entries(ofSettings)) {
    await database.schedules.keepOfSetting(setting, schedules);
  }
  await database.schedules.sweep();
  const before = await database.schedules.list();
  for (const schedule of before.schedules) {
    if (schedule.paused) continue;
    await findMissed(database, schedule, before.now.getTime());
    await database.schedules.looked(schedule.name, before.now);
  }
  const { schedules } = await database.schedules.list();
  await queues.repeat(schedules.filter(({ paused }) => !paused).map(recurringOf));
  const asked = schedules.flatMap(({ name, askedFor }) =>
    askedFor === null ? [] : [{ schedule: name, due: askedFor.getTime() }],
  );
  await queues.add(
    'schedule',
    asked.map((payload) => ({ id: `${payload.schedule}.${payload.due}`, payload, priority: 1 })),
  );
  await looked();
}

/**
 * Decides on times of more than a minute ago that have no run. The newest is run now if a packer lived (the queue lost
 * it) or the schedule says so, unless a later time had its run; the others are noted as missed.
 */
async function findMissed(database: Database, schedule: Schedule, now: number): Promise<void> {
  const { name, cron, zone, since, lookedAt, missed } = schedule;
  const after = Math.max(since.getTime(), lookedAt.getTime() - LATE_MS);
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
  const wanted = newest && (missed === 'once' || last <= lookedAt.getTime());
  const asked = wanted && (await database.schedules.askMissed(name, new Date(last)));
  const noted = asked ? missing.pop() : last;
  if (noted === undefined) return;
  const others = missing.length === 0 ? '' : `, nor at ${missing.length}${more ? ' or more' : ''} before it`;
  await database.schedules.noteMissed(name, new Date(noted), `No run began at this time${others}.`);
}

function recurringOf({ name, cron, zone, everyMs, since, last }: Listed): Recurring {
  if (cron !== null && zone !== null) return { schedule: name, pattern: cron, zone };
  const every = everyMs ?? 0;
  const from = last === null ? since.getTime() + Math.min(SETTLE_MS, every) : last.due.getTime() + every;
  return { schedule: name, everyMs: every, from };
}
