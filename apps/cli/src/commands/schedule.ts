import {
  addSchedule,
  listSchedules,
  type PublicSchedule,
  removeSchedule,
  runSchedule,
  scheduleHistory,
  setScheduleState,
} from '@packhouse/operations';
import { list, one, resource } from '../installation/resource.js';
import { formatDuration, formatTime } from '../terminal/format.js';

const NAME = ['<name>', 'Name in `packhouse schedule list`'] as const;
const ONE = { examples: ['nightly-audit'], fields: { name: NAME } };

export const addScheduleCommand = resource('schedule', 'Run commands on a schedule, in the packers', 'list', {
  add: one(addSchedule, {
    about: 'Add a schedule; results of its runs are kept for a year',
    examples: ['nightly-audit --cron "0 3 * * *" --tz UTC -- audit --sample 0.01 --repair'],
    fields: {
      name: ['<name>', 'Name: lower-case letters, digits and dashes'],
      command: ['<command...>', 'Command after --, without "packhouse"'],
      cron: ['--cron <pattern>', 'Cron pattern: minute, hour, day of month, month, day of week'],
      zone: ['--tz <zone>', 'Time zone of the pattern, e.g. Europe/Berlin'],
      missed: ['--missed <once|skip>', 'Missed runs, while no packer is running: run once late, or skip'],
      owner: ['--owner <name>', 'Owner'],
    },
    toRow: toJson,
    say: ({ name, command, next }) =>
      `Schedule ${name} added: packhouse ${quoteCommand(command)}. Next run: ${next === null ? 'none' : formatTime(next)}.`,
  }),
  list: list(listSchedules, {
    about: 'List schedules with their next run and last result',
    toRows: (rows) => rows.map(({ last, ...row }) => ({ ...toJson(row), last })),
    empty: 'No schedules.',
    columns: {
      NAME: (row) => row.name,
      SCHEDULE: (row) =>
        row.cron === null ? `every ${formatDuration((row.everyMs ?? 0) / 1_000)}` : `${row.cron} ${row.zone}`,
      'NEXT RUN': (row) => row.next ?? (row.paused ? 'paused' : null),
      'LAST RUN': ({ last }) =>
        last === null ? null : `${last.outcome ?? 'running'} ${formatTime(last.due)}`,
      'OWNER OR SETTING': (row) => row.setting ?? row.owner,
      COMMAND: (row) => quoteCommand(row.command),
    },
  }),
  run: one(runSchedule, {
    ...ONE,
    about: 'Run it once, now',
    say: (_, { name }) => `Schedule ${name} starts within seconds. See \`packhouse schedule history\`.`,
  }),
  pause: one(setScheduleState, {
    ...ONE,
    about: 'Pause it; an active run continues',
    fixed: { state: 'paused' },
    say: (_, { name }) => `Schedule ${name} paused.`,
  }),
  resume: one(setScheduleState, {
    ...ONE,
    about: 'Resume it; runs due meanwhile are not made up',
    fixed: { state: 'active' },
    say: (_, { name }) => `Schedule ${name} resumed.`,
  }),
  remove: one(removeSchedule, {
    ...ONE,
    about: 'Remove it; its history is kept',
    say: (_, { name }) => `Schedule ${name} removed.`,
  }),
  history: list(scheduleHistory, {
    about: 'List runs and missed runs, newest first',
    examples: ['nightly-audit --limit 5'],
    fields: {
      name: ['<name>', 'Name, also of a removed schedule'],
      limit: ['--limit <n>', 'Maximum number of runs, 1 to 10000'],
    },
    empty: ({ name }) => `Schedule ${name} has no runs yet.`,
    columns: {
      DUE: (run) => run.due,
      STARTED: (run) => run.startedAt,
      DURATION: ({ startedAt, endedAt }) =>
        startedAt === null || endedAt === null
          ? null
          : formatDuration((endedAt.getTime() - startedAt.getTime()) / 1_000),
      RESULT: (run) => run.outcome ?? 'running',
      'EXIT CODE': (run) => run.exitCode,
      MESSAGE: (run) => run.message ?? '',
    },
  }),
});

function toJson({ nextAt, ...row }: PublicSchedule) {
  return { ...row, next: nextAt };
}

/** A command, quoted for a shell. */
function quoteCommand(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}
