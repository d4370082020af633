import type { Database, Schedule, ScheduleRun } from '@packhouse/database';
import { checkCron, nextDue } from '@packhouse/queue';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { withDatabase } from '../installation/connect.js';
import { operatorName } from '../installation/operator.js';
import { formatDuration } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { parseInteger } from '../terminal/parse.js';
import { checkScheduledCommand, commandText } from './schedule-command.js';

interface Options {
  json?: boolean;
  dataDir?: string;
}

interface AddOptions extends Options {
  cron: string;
  tz: string;
  missed: string;
  owner: string;
}

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;
/** The schedule of the setting AUDIT_EVERY, also while the setting says that there is none. */
const RESERVED = 'audit';
const OWNER = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

/** `packhouse schedule add|list|run|pause|resume|remove|history`. */
export function addScheduleCommand(program: Command, io: CliIo): void {
  const schedule = program
    .command('schedule')
    .description('run commands on a calendar, in the packers')
    .addHelpText('after', '\nExample:\n  $ packhouse schedule list');

  schedule
    .command('add')
    .description('run a command again and again; its outcome is kept for a year')
    .argument('<name>', 'its name: lower-case letters, digits and dashes')
    .argument('<command...>', 'the command behind --, without packhouse')
    .requiredOption('--cron <pattern>', 'minute, hour, day of the month, month, day of the week')
    .option('--tz <zone>', 'the zone of the pattern, e.g. Europe/Berlin', 'UTC')
    .option(
      '--missed <once|skip>',
      'what becomes of times at which no packer lived: run once late, or not',
      'once',
    )
    .option('--owner <name>', 'whom it is for', 'default')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  $ packhouse schedule add nightly-audit --cron "0 3 * * *" --tz UTC -- audit --sample 0.01 --repair',
    )
    .action(async (name: string, command: string[], options: AddOptions) => {
      const { cron, tz: zone, missed, owner } = options;
      if (!NAME.test(name)) {
        throw usage(
          `A schedule has a name of 1 to 64 lower-case letters, digits and dashes, got "${name.slice(0, 64)}".`,
        );
      }
      if (name === RESERVED) throw reserved();
      if (!OWNER.test(owner))
        throw usage(`--owner takes 1 to 64 letters, digits, dots, dashes and underscores.`);
      if (missed !== 'once' && missed !== 'skip')
        throw usage(`--missed takes once or skip, got "${missed.slice(0, 64)}".`);
      checkCron({ pattern: cron, zone });
      checkScheduledCommand(command);
      const row = await withDatabase(io, options, async (database) => {
        const made = {
          name,
          owner,
          cron: cron.trim(),
          zone,
          everyMs: null,
          missed,
          command,
          setting: null,
        } as const;
        const added = await database.schedules.add({ ...made, command: [...command] }, operatorName(io));
        const row = await find(database, name);
        if (!added) throw taken(row);
        return row;
      });
      const next = new Date(nextDue({ pattern: cron, zone }, row.since.getTime()));
      if (options.json) await print(io, publicSchedule(row, next));
      else
        await print(
          io,
          `Schedule ${name} runs \`packhouse ${commandText(command)}\`, first at ${timeText(next)}.`,
        );
    });

  schedule
    .command('list')
    .description('list the schedules, when each is next due, and how its last run ended')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  $ packhouse schedule list')
    .action(async (options: Options) => {
      const { now, schedules } = await withDatabase(io, options, (database) => database.schedules.list());
      const rows = schedules.map((row) => ({ row, next: nextOf(row, now) }));
      if (options.json)
        for (const { row, next } of rows) await print(io, { ...publicSchedule(row, next), last: row.last });
      else if (rows.length === 0) await print(io, 'Nothing is scheduled.');
      else await print(io, scheduleTable(rows));
    });

  const change = (
    name: string,
    description: string,
    done: string,
    act: (database: Database, name: string, who: string) => Promise<boolean>,
  ): void => {
    schedule
      .command(name)
      .description(description)
      .argument('<name>', 'its name in `packhouse schedule list`')
      .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
      .option('--json', 'print one JSON object')
      .addHelpText('after', `\nExample:\n  $ packhouse schedule ${name} nightly-audit`)
      .action(async (given: string, options: Options) => {
        const row = await withDatabase(io, options, async (database) => {
          const row = await find(database, given);
          if (name !== 'run' && row.setting !== null) throw ofSetting(row);
          await act(database, given, operatorName(io));
          return row;
        });
        await print(io, options.json ? { name: row.name, changed: name } : `Schedule ${row.name} ${done}.`);
      });
  };
  change(
    'run',
    'run it once now',
    'runs within seconds; see `packhouse schedule history`',
    (database, name, who) => database.schedules.ask(name, who),
  );
  change('pause', 'let its times pass; a run that began goes on', 'is paused', (database, name, who) =>
    database.schedules.setPaused(name, true, who),
  );
  change(
    'resume',
    'go on; times that passed meanwhile are not made up for',
    'goes on',
    (database, name, who) => database.schedules.setPaused(name, false, who),
  );
  change('remove', 'remove it; its history stays', 'is removed', (database, name, who) =>
    database.schedules.remove(name, who),
  );

  schedule
    .command('history')
    .description('list its runs and the times without one, newest first')
    .argument('<name>', 'its name, also of one that was removed')
    .option('--limit <n>', 'how many, 1 to 10000', '20')
    .option('--data-dir <dir>', 'the data folder of a running `packhouse local`')
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', '\nExample:\n  $ packhouse schedule history nightly-audit --limit 5')
    .action(async (name: string, options: Options & { limit: string }) => {
      const limit = parseInteger(options.limit, '--limit', 1, 10_000);
      const runs = await withDatabase(io, options, async (database) => {
        const found = await database.schedules.runs(name, { limit });
        if (found.length === 0) await find(database, name);
        return found;
      });
      if (options.json) for (const run of runs) await print(io, run);
      else if (runs.length === 0) await print(io, `Schedule ${name} had no run yet.`);
      else await print(io, runTable(runs));
    });
}

/** Throws SCHEDULE_UNKNOWN. */
async function find(database: Database, name: string): Promise<Schedule> {
  const { schedules } = await database.schedules.list();
  const row = schedules.find((each) => each.name === name);
  if (row !== undefined) return row;
  const names = schedules.map((each) => each.name).slice(0, 20);
  throw new PackhouseError({
    code: 'SCHEDULE_UNKNOWN',
    message: `There is no schedule "${name.slice(0, 64)}".`,
    hint: names.length === 0 ? 'There are none.' : `There are ${names.join(', ')}.`,
  });
}

function reserved(): PackhouseError {
  return new PackhouseError({
    code: 'SCHEDULE_INVALID',
    message: `The name "${RESERVED}" is kept for the schedule of the setting AUDIT_EVERY.`,
    hint: 'Give another name.',
  });
}

function taken({ name }: Schedule): PackhouseError {
  return new PackhouseError({
    code: 'SCHEDULE_INVALID',
    message: `There is a schedule "${name}" already.`,
    hint: 'Give another name, or remove that one first.',
  });
}

function ofSetting({ name, setting }: Schedule): PackhouseError {
  return new PackhouseError({
    code: 'SCHEDULE_INVALID',
    message: `Schedule "${name}" is of the setting ${setting} and ends with it.`,
    hint: 'Change the setting of the packers: see docs/settings.md.',
  });
}

function usage(message: string): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message });
}

/** Null if it is paused, or repeats every so often. */
function nextOf({ cron, zone, paused }: Schedule, now: Date): Date | null {
  if (paused || cron === null || zone === null) return null;
  return new Date(nextDue({ pattern: cron, zone }, now.getTime()));
}

function publicSchedule(row: Schedule, next: Date | null): object {
  const { name, owner, cron, zone, everyMs, missed, command, setting, paused } = row;
  return { name, owner, cron, zone, everyMs, missed, command, setting, paused, next };
}

function scheduleTable(
  rows: readonly { row: Schedule & { last: ScheduleRun | null }; next: Date | null }[],
): string {
  const lines = rows.map(({ row, next }) => [
    row.name,
    row.cron === null ? `every ${formatDuration((row.everyMs ?? 0) / 1_000)}` : `${row.cron} ${row.zone}`,
    next === null ? (row.paused ? 'paused' : '-') : timeText(next),
    row.last === null ? '-' : `${row.last.outcome ?? 'runs'} ${timeText(row.last.due)}`,
    row.setting ?? row.owner,
    commandText(row.command),
  ]);
  return table([['NAME', 'TIMES', 'NEXT', 'LAST', 'OWNER OR SETTING', 'COMMAND'], ...lines]);
}

function runTable(runs: readonly ScheduleRun[]): string {
  const lines = runs.map(({ due, startedAt, endedAt, outcome, exitCode, said }) => [
    timeText(due),
    startedAt === null ? '-' : timeText(startedAt),
    startedAt === null || endedAt === null
      ? '-'
      : formatDuration((endedAt.getTime() - startedAt.getTime()) / 1_000),
    outcome ?? 'runs',
    exitCode === null ? '-' : String(exitCode),
    said ?? '',
  ]);
  return table([['DUE', 'BEGAN', 'TOOK', 'OUTCOME', 'EXIT', 'SAID'], ...lines]);
}

function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
