import type { Job, JobSchedulerJson, JobSchedulerTemplateOptions, Queue } from 'bullmq';
import type { Recurring } from './queues.js';

type Repeating = Pick<
  Queue,
  'getJobSchedulers' | 'getJobScheduler' | 'upsertJobScheduler' | 'removeJobScheduler' | 'getJob'
>;

/** A repeated job that cannot be begun for lack of the database is tried again. */
const OPTIONS: JobSchedulerTemplateOptions = {
  attempts: 5,
  backoff: { type: 'exponential', delay: 1_000 },
  removeOnComplete: true,
  removeOnFail: true,
  stackTraceLimit: 0,
};

/** The id of a repeated job: `repeat:<scheduler>:<milliseconds since 1970>`. */
const ID = /^repeat:.*:(\d+)$/;

/** When a job was due that BullMQ repeats. */
export function getDue({ id, repeatJobKey }: Pick<Job, 'id' | 'repeatJobKey'>): number | undefined {
  const due = repeatJobKey === undefined ? undefined : ID.exec(id ?? '')?.[1];
  return due === undefined ? undefined : Number(due);
}

/**
 * Makes the job schedulers of a queue exactly these. One that exists is left alone, as writing it anew would move its
 * next job, unless that job is gone: its scheduler would wait for it for ever.
 */
export async function setRepeated(queue: Repeating, recurring: readonly Recurring[]): Promise<void> {
  const there = new Map((await queue.getJobSchedulers()).map((scheduler) => [scheduler.key, scheduler]));
  for (const one of recurring) {
    const found = there.get(one.schedule);
    there.delete(one.schedule);
    const same =
      found !== undefined &&
      ('everyMs' in one
        ? found.every === one.everyMs
        : found.pattern === one.pattern && found.tz === one.zone) &&
      (await hasNext(queue, found));
    if (same) continue;
    const times =
      'everyMs' in one ? { every: one.everyMs, startDate: one.from } : { pattern: one.pattern, tz: one.zone };
    await queue.removeJobScheduler(one.schedule);
    await queue.upsertJobScheduler(one.schedule, times, {
      name: 'schedule',
      data: { schedule: one.schedule },
      opts: OPTIONS,
    });
  }
  for (const key of there.keys()) await queue.removeJobScheduler(key);
}

async function hasNext(queue: Repeating, { key, next }: JobSchedulerJson): Promise<boolean> {
  if ((await queue.getJob(`repeat:${key}:${next}`)) !== undefined) return true;
  // It may have run just now.
  return (await queue.getJobScheduler(key))?.next !== next;
}
