import type { ScheduleRun } from '@packhouse/database';
import {
  addSchedule,
  listSchedules,
  type PublicSchedule,
  removeSchedule,
  runSchedule,
  scheduleHistory,
  setScheduleState,
} from '@packhouse/operations';
import type { Command } from 'commander';
import { operate } from '../installation/operate.js';
import { addCommand, addPlacedCommand, type Place } from '../terminal/command.js';
import { formatDuration } from '../terminal/format.js';
import { type CliIo, print, printRows, table } from '../terminal/io.js';

interface AddOptions extends Place {
  cron: string;
  tz: string;
  missed: 'once' | 'skip';
  owner: string;
}

/** `packhouse schedule add|list|run|pause|resume|remove|history`. */
export function addScheduleCommand(program: Command, io: CliIo): void {
  const schedule = addCommand(program, 'schedule', 'Run commands on a schedule, in the packers', 'list');

  addPlacedCommand(
    schedule,
    'add',
    'Add a schedule; results of its runs are kept for a year',
    'nightly-audit --cron "0 3 * * *" --tz UTC -- audit --sample 0.01 --repair',
  )
    .argument('<name>', 'Name: lower-case letters, digits and dashes')
    .argument('<command...>', 'Command after --, without "packhouse"')
    .requiredOption('--cron <pattern>', 'Cron pattern: minute, hour, day of month, month, day of week')
    .option('--tz <zone>', 'Time zone of the pattern, e.g. Europe/Berlin', 'UTC')
    .option('--missed <once|skip>', 'Missed runs, while no packer is running: run once late, or skip', 'once')
    .option('--owner <name>', 'Owner', 'default')
    .action(async (name: string, command: string[], options: AddOptions) => {
      const { cron, tz: zone, missed, owner } = options;
      const row = await operate(io, options, addSchedule, { name, command, cron, zone, missed, owner });
      const next = row.nextAt === null ? 'none' : formatTime(row.nextAt);
      await print(
        io,
        options.json
          ? toJson(row)
          : `Schedule ${name} added: packhouse ${quoteCommand(command)}. Next run: ${next}.`,
      );
    });

  addPlacedCommand(schedule, 'list', 'List schedules with their next run and last result').action(
    async (options: Place) => {
      const rows = await operate(io, options, listSchedules, {});
      const shown = options.json ? rows.map(({ last, ...row }) => ({ ...toJson(row), last })) : [];
      await printRows(io, options, shown, {
        show: () => (rows.length === 0 ? 'No schedules.' : scheduleTable(rows)),
      });
    },
  );

  const change = (
    name: string,
    send: (options: Place, name: string) => Promise<object>,
    description: string,
    done: string,
  ): void => {
    addPlacedCommand(schedule, name, description, 'nightly-audit')
      .argument('<name>', 'Name in `packhouse schedule list`')
      .action(async (given: string, options: Place) => {
        const row = await send(options, given);
        await print(io, options.json ? row : `Schedule ${given} ${done}.`);
      });
  };
  const setState = (state: 'active' | 'paused') => (options: Place, name: string) =>
    operate(io, options, setScheduleState, { name, state });
  change(
    'run',
    (options, name) => operate(io, options, runSchedule, { name }),
    'Run it once, now',
    'starts within seconds. See `packhouse schedule history`',
  );
  change('pause', setState('paused'), 'Pause it; an active run continues', 'paused');
  change('resume', setState('active'), 'Resume it; runs due meanwhile are not made up', 'resumed');
  change(
    'remove',
    (options, name) => operate(io, options, removeSchedule, { name }),
    'Remove it; its history is kept',
    'removed',
  );

  addPlacedCommand(schedule, 'history', 'List runs and missed runs, newest first', 'nightly-audit --limit 5')
    .argument('<name>', 'Name, also of a removed schedule')
    .option('--limit <n>', 'Maximum number of runs, 1 to 10000', '20')
    .action(async (name: string, options: Place & { limit: string }) => {
      const runs = await operate(io, options, scheduleHistory, { name, limit: options.limit });
      await printRows(io, options, runs, { none: `Schedule ${name} has no runs yet.`, show: runTable });
    });
}

function toJson({ nextAt, ...row }: PublicSchedule): object {
  return { ...row, next: nextAt };
}

function scheduleTable(rows: readonly (PublicSchedule & { last: ScheduleRun | null })[]): string {
  const lines = rows.map((row) => [
    row.name,
    row.cron === null ? `every ${formatDuration((row.everyMs ?? 0) / 1_000)}` : `${row.cron} ${row.zone}`,
    row.nextAt === null ? (row.paused ? 'paused' : '-') : formatTime(row.nextAt),
    row.last === null ? '-' : `${row.last.outcome ?? 'running'} ${formatTime(row.last.due)}`,
    row.setting ?? row.owner,
    quoteCommand(row.command),
  ]);
  return table([['NAME', 'SCHEDULE', 'NEXT RUN', 'LAST RUN', 'OWNER OR SETTING', 'COMMAND'], ...lines]);
}

function runTable(runs: readonly ScheduleRun[]): string {
  const lines = runs.map(({ due, startedAt, endedAt, outcome, exitCode, message }) => [
    formatTime(due),
    startedAt === null ? '-' : formatTime(startedAt),
    startedAt === null || endedAt === null
      ? '-'
      : formatDuration((endedAt.getTime() - startedAt.getTime()) / 1_000),
    outcome ?? 'running',
    exitCode === null ? '-' : String(exitCode),
    message ?? '',
  ]);
  return table([['DUE', 'STARTED', 'DURATION', 'RESULT', 'EXIT CODE', 'MESSAGE'], ...lines]);
}

function formatTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** A command, quoted for a shell. */
function quoteCommand(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}
