import type { Database, Schedule } from '@packhouse/database';
import type { Job } from '@packhouse/queue';
import { type Context, describeError, redact } from '@packhouse/runtime';
import { runCommand } from './run-command.js';

interface RunScheduleParts {
  context: Context;
  /** Aborted when what was told to end must end at once. */
  cut: AbortSignal;
  database: Database;
  /** The program of the command line. */
  cli: string;
  env: Readonly<Record<string, string | undefined>>;
  /** What schedules of settings run, by name; returns what to note of the run. */
  builtIn: Readonly<Record<string, (signal: AbortSignal) => Promise<string>>>;
}

/** A job that comes later than so after its time, or earlier by the clock of its packer, is left to the leader. */
export const LATE_MS = 60_000;
/** Time between two heartbeats of a run, in milliseconds. */
const HEARTBEAT_EVERY_MS = 10_000;

/**
 * Runs a schedule, whose row says what is run. Each time has one run, and a schedule one run at a time: the queue may
 * bring a time twice, or a clock may go back. What the queue brings too late is not run here: see `scheduleLoop`.
 */
export async function runSchedule(parts: RunScheduleParts, job: Job<'schedule'>): Promise<void> {
  const { context, database } = parts;
  const due = job.payload.due ?? job.due;
  const { now, schedules } = await database.schedules.list();
  const schedule = schedules.find(({ name }) => name === job.payload.schedule);
  if (schedule === undefined || due === undefined) return;
  const asked = schedule.requestedAt?.getTime() === due;
  const late = schedule.cron !== null && Math.abs(now.getTime() - due) > LATE_MS;
  if (!asked && (schedule.paused || late || due < schedule.since.getTime())) return;
  const { name } = schedule;
  // Runs every so often may take longer than that; the next one begins after them.
  const begun = await database.schedules.begin(name, new Date(due), asked || schedule.cron !== null);
  if (begun !== 'begun') return;

  context.logger.info({ schedule: name, command: schedule.command }, 'a schedule runs');
  const ended = new AbortController();
  const alive = sayAlive(parts, name, new Date(due), ended.signal);
  const end = await runOnce(parts, schedule);
  ended.abort();
  await alive;
  const message = end.message === null ? null : redact(end.message);
  await database.schedules.end(name, new Date(due), { ...end, message });
  context.metrics.count('packhouse_schedule_runs_total', 'Runs of schedules by how they ended', {
    schedule: name,
    outcome: end.outcome,
  });
  const log = end.outcome === 'done' ? 'info' : 'warn';
  context.logger[log](
    { schedule: name, exitCode: end.exitCode, message },
    `a schedule's run is ${end.outcome}`,
  );
}

async function runOnce(
  { context, cut, cli, env, builtIn }: RunScheduleParts,
  { name, command, setting }: Schedule,
): Promise<{ outcome: 'done' | 'failed'; exitCode: number | null; message: string | null }> {
  const { signal } = context;
  const message = 'Its packer was shut down while it ran.';
  const stopped = { outcome: 'failed', exitCode: null, message } as const;
  try {
    const run = setting === null ? undefined : builtIn[name];
    if (run !== undefined) return { outcome: 'done', exitCode: null, message: await run(signal) };
    const own = { ...env, PACKHOUSE_OPERATOR: `schedule ${name}` };
    const { exitCode, message } = await runCommand({ cli, args: command, env: own, signal, cut });
    if (exitCode === 0) return { outcome: 'done', exitCode, message };
    return signal.aborted ? stopped : { outcome: 'failed', exitCode, message };
  } catch (error) {
    return signal.aborted ? stopped : { outcome: 'failed', exitCode: null, message: describeError(error) };
  }
}

async function sayAlive(
  { context: { clock }, database }: RunScheduleParts,
  name: string,
  due: Date,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    await clock.sleep(HEARTBEAT_EVERY_MS, ended).catch(() => undefined);
    if (!ended.aborted) await database.schedules.heartbeat(name, due).catch(() => undefined);
  }
}
