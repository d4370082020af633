import type { ScheduleRun } from '@packhouse/database';
import {
  addSchedule,
  listSchedules,
  type PublicSchedule,
  scheduleHistory,
  steerSchedule,
} from '@packhouse/operations';
import { PackhouseError } from '@packhouse/runtime';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { formatDuration } from '../terminal/format.js';
import { type CliIo, print, table } from '../terminal/io.js';
import { parseInteger } from '../terminal/parse.js';
import { withPlace } from '../terminal/place.js';

interface Options {
  server?: string;
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
const OWNER = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

/** `packhouse schedule add|list|run|pause|resume|remove|history`. */
export function addScheduleCommand(program: Command, io: CliIo): void {
  const schedule = program
    .command('schedule')
    .description('run commands on a calendar, in the packers')
    .addHelpText('after', '\nExample:\n  $ packhouse schedule list');

  withPlace(schedule.command('add'))
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
      if (!OWNER.test(owner))
        throw usage(`--owner takes 1 to 64 letters, digits, dots, dashes and underscores.`);
      if (missed !== 'once' && missed !== 'skip')
        throw usage(`--missed takes once or skip, got "${missed.slice(0, 64)}".`);
      const row = await operate(io, options, addSchedule, { name, command, cron, zone, missed, owner });
      if (options.json) await print(io, shown(row));
      else {
        const first = row.nextAt === null ? 'never' : `first at ${timeText(row.nextAt)}`;
        await print(io, `Schedule ${name} runs \`packhouse ${commandText(command)}\`, ${first}.`);
      }
    });

  withPlace(schedule.command('list'))
    .description('list the schedules, when each is next due, and how its last run ended')
    .addHelpText('after', '\nExample:\n  $ packhouse schedule list')
    .action(async (options: Options) => {
      const rows = await operate(io, options, listSchedules, {});
      if (options.json) for (const { last, ...row } of rows) await print(io, { ...shown(row), last });
      else if (rows.length === 0) await print(io, 'Nothing is scheduled.');
      else await print(io, scheduleTable(rows));
    });

  const change = (name: 'run' | 'pause' | 'resume' | 'remove', description: string, done: string): void => {
    withPlace(schedule.command(name))
      .description(description)
      .argument('<name>', 'its name in `packhouse schedule list`')
      .addHelpText('after', `\nExample:\n  $ packhouse schedule ${name} nightly-audit`)
      .action(async (given: string, options: Options) => {
        const row = await operate(io, options, steerSchedule, { name: given, action: name });
        await print(io, options.json ? row : `Schedule ${row.name} ${done}.`);
      });
  };
  change('run', 'run it once now', 'runs within seconds; see `packhouse schedule history`');
  change('pause', 'let its times pass; a run that began goes on', 'is paused');
  change('resume', 'go on; times that passed meanwhile are not made up for', 'goes on');
  change('remove', 'remove it; its history stays', 'is removed');

  withPlace(schedule.command('history'))
    .description('list its runs and the times without one, newest first')
    .argument('<name>', 'its name, also of one that was removed')
    .option('--limit <n>', 'how many, 1 to 10000', '20')
    .addHelpText('after', '\nExample:\n  $ packhouse schedule history nightly-audit --limit 5')
    .action(async (name: string, options: Options & { limit: string }) => {
      const limit = parseInteger(options.limit, '--limit', 1, 10_000);
      const runs = await operate(io, options, scheduleHistory, { name, limit });
      if (options.json) for (const run of runs) await print(io, run);
      else if (runs.length === 0) await print(io, `Schedule ${name} had no run yet.`);
      else await print(io, runTable(runs));
    });
}

function usage(message: string): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message });
}

/** As JSON. */
function shown({ nextAt, ...row }: PublicSchedule): object {
  return { ...row, next: nextAt };
}

function scheduleTable(rows: readonly (PublicSchedule & { last: ScheduleRun | null })[]): string {
  const lines = rows.map((row) => [
    row.name,
    row.cron === null ? `every ${formatDuration((row.everyMs ?? 0) / 1_000)}` : `${row.cron} ${row.zone}`,
    row.nextAt === null ? (row.paused ? 'paused' : '-') : timeText(row.nextAt),
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

/** A command as a shell takes it. */
function commandText(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}
