import type { Database, Schedule, ScheduleRun } from '@packhouse/database';
import { checkCron, nextDue } from '@packhouse/queue';
import { z } from 'zod';
import { fail } from '../operation/fail.js';
import { limitField } from '../operation/fields.js';
import { change, type OperationParts, read } from '../operation/operation.js';
import { requireAdmin } from '../operation/require-admin.js';
import { checkScheduledCommand, isDeleting } from './scheduled-command.js';

/** The schedule of the setting AUDIT_EVERY, even if the setting turns it off. */
const RESERVED = 'audit';

const nameField = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'takes 1 to 64 lower-case letters, digits and dashes');

const givenName = z.string().min(1).max(64);

/** A schedule as it is shown. */
export type PublicSchedule = Pick<
  Schedule,
  'name' | 'owner' | 'cron' | 'zone' | 'everyMs' | 'missed' | 'command' | 'setting' | 'paused'
> & {
  /** The next run; null: it is paused, or runs at an interval. */
  nextAt: Date | null;
  /** Whether it deletes objects: only admins may do more with it than pause it. */
  deletes: boolean;
};

export const listSchedules = read({
  name: 'schedules',
  role: 'viewer',
  sharedForMs: 1_000,
  summary: 'The schedules by name, with the next and the last run of each.',
  run: async ({ database }): Promise<(PublicSchedule & { last: ScheduleRun | null })[]> => {
    const { now, schedules } = await database.schedules.list();
    return schedules.map((row) => ({ ...toPublicSchedule(row, now), last: row.last }));
  },
});

export const scheduleHistory = read({
  name: 'schedules/history',
  role: 'viewer',
  summary: 'The runs and missed runs of a schedule, newest first; also of a removed one.',
  input: z.object({ name: givenName, limit: limitField(20) }),
  run: async ({ database }, { name, limit }) => {
    const found = await database.schedules.runs(name, { limit });
    if (found.length === 0) await find(database, name);
    return found;
  },
});

export const addSchedule = change({
  name: 'schedules/add',
  role: 'operator',
  summary: 'Schedules a command, which the packers run; outcomes are kept for a year.',
  input: z.object({
    name: nameField,
    command: z.array(z.string().max(4_000)).min(1).max(200).describe('arguments of packhouse'),
    cron: z.string().max(200).describe('cron expression: minute, hour, day, month, weekday'),
    zone: z.string().min(1).max(64).default('UTC').describe('time zone, e.g. Europe/Berlin'),
    missed: z
      .enum(['once', 'skip'], 'takes once or skip')
      .default('once')
      .describe('missed runs: run once, late, or skip'),
    owner: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'takes 1 to 64 letters, digits, dots, dashes and underscores')
      .default('default'),
  }),
  run: async (parts, { name, command, cron, zone, missed, owner }) => {
    const { actor, database } = parts;
    if (name === RESERVED)
      fail(
        'SCHEDULE_INVALID',
        `The name "${RESERVED}" is reserved for the setting AUDIT_EVERY.`,
        'Use another name.',
      );
    checkCron({ pattern: cron, zone });
    checkScheduledCommand(command);
    requireMayDelete(parts, name, command);
    const made = { name, owner, cron: cron.trim(), zone, everyMs: null, missed, command, setting: null };
    if (!(await database.schedules.add(made, actor))) {
      fail('SCHEDULE_INVALID', `Schedule "${name}" exists already.`, 'Use another name, or remove that one.');
    }
    const row = await find(database, name);
    return toPublicSchedule(row, row.since);
  },
});

export const runSchedule = change({
  name: 'schedules/run',
  role: 'operator',
  summary: 'Runs a schedule once, within seconds.',
  input: z.object({ name: givenName }),
  run: async (parts, { name }) => {
    const { actor, database } = parts;
    requireMayDelete(parts, name, (await find(database, name)).command);
    await database.schedules.requestRun(name, actor);
    return { name };
  },
});

export const setScheduleState = change({
  name: 'schedules/state',
  role: 'operator',
  summary: 'Pauses or resumes a schedule; missed runs are not made up for.',
  input: z.object({ name: givenName, state: z.enum(['active', 'paused']) }),
  run: async (parts, { name, state }) => {
    const { actor, database } = parts;
    const { command } = await findOwn(database, name);
    if (state === 'active') requireMayDelete(parts, name, command);
    await database.schedules.setPaused(name, state === 'paused', actor);
    return { name, state };
  },
});

export const removeSchedule = change({
  name: 'schedules/remove',
  role: 'operator',
  summary: 'Removes a schedule; its history stays.',
  input: z.object({ name: givenName }),
  run: async (parts, { name }) => {
    const { actor, database } = parts;
    requireMayDelete(parts, name, (await findOwn(database, name)).command);
    await database.schedules.remove(name, actor);
    return { name };
  },
});

/** Throws ROLE_TOO_LOW if the schedule deletes and the actor is no admin. */
function requireMayDelete(parts: OperationParts, name: string, command: readonly string[]): void {
  if (isDeleting(command))
    requireAdmin(parts, `Schedule "${name}" deletes objects, which only admins schedule.`);
}

/** A schedule that no setting made. Throws SCHEDULE_UNKNOWN, SCHEDULE_INVALID. */
async function findOwn(database: Database, name: string): Promise<Schedule> {
  const row = await find(database, name);
  const { setting } = row;
  if (setting === null) return row;
  fail(
    'SCHEDULE_INVALID',
    `The setting ${setting} makes schedule "${name}".`,
    'Change the setting of the packers: see docs/settings.md.',
  );
}

/** Throws SCHEDULE_UNKNOWN. */
async function find(database: Database, name: string): Promise<Schedule> {
  const { schedules } = await database.schedules.list();
  const row = schedules.find((each) => each.name === name);
  if (row !== undefined) return row;
  const names = schedules.map((each) => each.name).slice(0, 20);
  fail(
    'SCHEDULE_UNKNOWN',
    `Unknown schedule "${name}".`,
    names.length === 0 ? 'No schedules yet.' : `Schedules: ${names.join(', ')}.`,
  );
}

function toPublicSchedule(row: Schedule, now: Date): PublicSchedule {
  const { name, owner, cron, zone, everyMs, missed, command, setting, paused } = row;
  const due =
    paused || cron === null || zone === null ? null : nextDue({ pattern: cron, zone }, now.getTime());
  const nextAt = due === null ? null : new Date(due);
  return {
    name,
    owner,
    cron,
    zone,
    everyMs,
    missed,
    command,
    setting,
    paused,
    nextAt,
    deletes: isDeleting(command),
  };
}
