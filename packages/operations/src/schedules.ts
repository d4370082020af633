import type { Database, Schedule, ScheduleRun } from '@packhouse/database';
import { checkCron, nextDue } from '@packhouse/queue';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';
import { limitField } from './fields.js';
import { operation } from './operation.js';
import { checkScheduledCommand } from './scheduled-command.js';

/** The schedule of the setting AUDIT_EVERY, also while the setting says that there is none. */
const RESERVED = 'audit';

const nameField = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'takes 1 to 64 lower-case letters, digits and dashes');

/** A schedule as it is shown. */
export type PublicSchedule = Pick<
  Schedule,
  'name' | 'owner' | 'cron' | 'zone' | 'everyMs' | 'missed' | 'command' | 'setting' | 'paused'
> & {
  /** When it is due next; null if it is paused, or repeats every so often. */
  nextAt: Date | null;
};

export const listSchedules = operation({
  name: 'schedules',
  kind: 'read',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The schedules by name, when each is next due, and how its last run ended.',
  input: z.object({}),
  run: async ({ database }): Promise<(PublicSchedule & { last: ScheduleRun | null })[]> => {
    const { now, schedules } = await database.schedules.list();
    return schedules.map((row) => ({ ...publicSchedule(row, now), last: row.last }));
  },
});

export const scheduleHistory = operation({
  name: 'schedules/history',
  kind: 'read',
  role: 'viewer',
  summary: 'The runs of a schedule and the times without one, newest first; also of one that was removed.',
  input: z.object({ name: z.string().min(1).max(64), limit: limitField(20) }),
  run: async ({ database }, { name, limit }) => {
    const found = await database.schedules.runs(name, { limit });
    if (found.length === 0) await find(database, name);
    return found;
  },
});

export const addSchedule = operation({
  name: 'schedules/add',
  kind: 'change',
  role: 'operator',
  summary: 'Runs a command again and again, in the packers; its outcome is kept for a year.',
  input: z.object({
    name: nameField,
    command: z.array(z.string().max(4_000)).min(1).max(200).describe('arguments of packhouse'),
    cron: z.string().max(200).describe('minute, hour, day of the month, month, day of the week'),
    zone: z.string().min(1).max(64).default('UTC').describe('of the pattern, e.g. Europe/Berlin'),
    missed: z
      .enum(['once', 'skip'])
      .default('once')
      .describe('what becomes of times at which no packer lived: run once late, or not'),
    owner: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'takes 1 to 64 letters, digits, dots, dashes and underscores')
      .default('default'),
  }),
  run: async ({ database, who }, { name, command, cron, zone, missed, owner }) => {
    if (name === RESERVED)
      throw invalid(
        `The name "${RESERVED}" is kept for the schedule of the setting AUDIT_EVERY.`,
        'Give another name.',
      );
    checkCron({ pattern: cron, zone });
    checkScheduledCommand(command);
    const made = { name, owner, cron: cron.trim(), zone, everyMs: null, missed, command, setting: null };
    if (!(await database.schedules.add(made, who))) {
      throw invalid(`There is a schedule "${name}" already.`, 'Give another name, or remove that one first.');
    }
    const row = await find(database, name);
    return publicSchedule(row, row.since);
  },
});

export const steerSchedule = operation({
  name: 'schedules/steer',
  kind: 'change',
  role: 'operator',
  summary: 'Runs a schedule once now, pauses it, lets it go on, or removes it; its history stays.',
  input: z.object({
    name: z.string().min(1).max(64),
    action: z.enum(['run', 'pause', 'resume', 'remove']),
  }),
  run: async ({ database, who }, { name, action }) => {
    const { schedules } = database;
    const { setting } = await find(database, name);
    if (action !== 'run' && setting !== null) {
      throw invalid(
        `Schedule "${name}" is of the setting ${setting} and ends with it.`,
        'Change the setting of the packers: see docs/settings.md.',
      );
    }
    if (action === 'run') await schedules.ask(name, who);
    else if (action === 'remove') await schedules.remove(name, who);
    else await schedules.setPaused(name, action === 'pause', who);
    return { name, changed: action };
  },
});

/** Throws SCHEDULE_UNKNOWN. */
async function find(database: Database, name: string): Promise<Schedule> {
  const { schedules } = await database.schedules.list();
  const row = schedules.find((each) => each.name === name);
  if (row !== undefined) return row;
  const names = schedules.map((each) => each.name).slice(0, 20);
  throw new PackhouseError({
    code: 'SCHEDULE_UNKNOWN',
    message: `There is no schedule "${name}".`,
    hint: names.length === 0 ? 'There are none.' : `There are ${names.join(', ')}.`,
  });
}

function invalid(message: string, hint: string): PackhouseError {
  return new PackhouseError({ code: 'SCHEDULE_INVALID', message, hint });
}

function publicSchedule(row: Schedule, now: Date): PublicSchedule {
  const { name, owner, cron, zone, everyMs, missed, command, setting, paused } = row;
  const due =
    paused || cron === null || zone === null ? null : nextDue({ pattern: cron, zone }, now.getTime());
  const nextAt = due === null ? null : new Date(due);
  return { name, owner, cron, zone, everyMs, missed, command, setting, paused, nextAt };
}
