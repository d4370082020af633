import { type Connections, statement } from '../../connection/connections.js';
import { createNotedChange } from './changes.js';

/** Work that repeats: by a cron pattern in a zone, or every so often. */
export interface Schedule {
  name: string;
  owner: string;
  /** Five fields; null if `everyMs` is set. */
  cron: string | null;
  /** IANA name; null if `everyMs` is set. */
  zone: string | null;
  everyMs: number | null;
  /** What becomes of a missed run: a time at which no packer ran. */
  missed: 'once' | 'skip';
  /** Arguments of `packhouse`. */
  command: string[];
  /** The setting that it comes from; null: an operator added it. */
  setting: string | null;
  paused: boolean;
  /** Times before are not its own. */
  since: Date;
  /** When a packer last looked for missed times. */
  checkedAt: Date;
  /** The time of a run that is to begin at once. */
  requestedAt: Date | null;
}

export type NewSchedule = Pick<
  Schedule,
  'name' | 'owner' | 'cron' | 'zone' | 'everyMs' | 'missed' | 'command' | 'setting'
>;

/** One run, or a time without one. */
export interface ScheduleRun {
  schedule: string;
  due: Date;
  /** Null: skipped or missed. */
  startedAt: Date | null;
  endedAt: Date | null;
  /** Null while it runs; skipped: the run before it still ran; missed: no packer ran. */
  outcome: 'done' | 'failed' | 'skipped' | 'missed' | null;
  exitCode: number | null;
  /** The last line of its output, or why it did not run. */
  message: string | null;
}

type RunEnd = Pick<ScheduleRun, 'exitCode' | 'message'> & { outcome: 'done' | 'failed' };

const COLUMNS = `s.name, s.owner, s.cron, s.zone, s.every_ms AS "everyMs", s.missed, s.command, s.setting, s.paused,
  s.since, s.checked_at AS "checkedAt", s.requested_at AS "requestedAt"`;

const RUN_COLUMNS = `r.schedule, r.due, r.started_at AS "startedAt", r.ended_at AS "endedAt", r.outcome,
  r.exit_code AS "exitCode", r.message`;

/** $1 name, $2 owner, $3 cron, $4 zone, $5 milliseconds, $6 missed, $7 command, $8 setting. */
const insertSchedule = statement(
  'schedules/insert-schedule',
  `INSERT INTO packhouse.schedule (name, owner, cron, zone, every_ms, missed, command, setting)
   VALUES ($1, $2, $3, $4, $5::int8, $6, $7::text[], $8)
   ON CONFLICT (name) DO NOTHING
   RETURNING name`,
);

/** Parameters as above. Changes nothing that is so already. */
const upsertSchedule = statement(
  'schedules/upsert-schedule',
  `INSERT INTO packhouse.schedule AS s (name, owner, cron, zone, every_ms, missed, command, setting)
   VALUES ($1, $2, $3, $4, $5::int8, $6, $7::text[], $8)
   ON CONFLICT (name) DO UPDATE SET cron = excluded.cron, zone = excluded.zone, every_ms = excluded.every_ms,
     missed = excluded.missed, command = excluded.command
   WHERE s.setting = excluded.setting AND (s.cron, s.zone, s.every_ms, s.missed, s.command)
     IS DISTINCT FROM (excluded.cron, excluded.zone, excluded.every_ms, excluded.missed, excluded.command)`,
);

/** $1 setting, $2 names. */
const deleteOfSetting = statement(
  'schedules/delete-of-setting',
  'DELETE FROM packhouse.schedule WHERE setting = $1 AND name <> ALL ($2::text[])',
);

const selectSchedules = statement(
  'schedules/select-schedules',
  `SELECT ${COLUMNS}, clock_timestamp() AS now,
     (SELECT to_jsonb(run) FROM (SELECT ${RUN_COLUMNS} FROM packhouse.schedule_run AS r
       WHERE r.schedule = s.name ORDER BY r.due DESC LIMIT 1) AS run) AS last
   FROM packhouse.schedule AS s ORDER BY s.name`,
);

/** $1 name: what operators change of it. */
const selectOne = statement(
  'schedules/select-one',
  'SELECT owner, cron, zone, missed, command, paused FROM packhouse.schedule WHERE name = $1',
);

/** $1 name, $2 paused. */
const updatePaused = statement(
  'schedules/update-paused',
  `UPDATE packhouse.schedule SET paused = $2,
     since = CASE WHEN paused AND NOT $2 THEN clock_timestamp() ELSE since END
   WHERE name = $1 RETURNING name`,
);

/** $1 name. */
const deleteSchedule = statement(
  'schedules/delete-schedule',
  'DELETE FROM packhouse.schedule WHERE name = $1 RETURNING name',
);

/** $1 name, $2 due; null: now. */
const updateRequested = statement(
  'schedules/update-requested',
  `UPDATE packhouse.schedule
   SET requested_at = date_trunc('milliseconds', coalesce($2::timestamptz, clock_timestamp()))
   WHERE name = $1 AND requested_at IS NULL RETURNING name`,
);

/** $1 name, $2 when. */
const updateChecked = statement(
  'schedules/update-checked',
  'UPDATE packhouse.schedule SET checked_at = $2 WHERE name = $1',
);

/** $1 name, $2 due. A second run of the name at a time, and a second of the same time, conflict. */
const insertRun = statement(
  'schedules/insert-run',
  `WITH begun AS (
     INSERT INTO packhouse.schedule_run (schedule, due, started_at) VALUES ($1, $2::timestamptz, clock_timestamp())
     ON CONFLICT DO NOTHING RETURNING schedule),
   started AS (
     UPDATE packhouse.schedule SET requested_at = NULL WHERE name = $1 AND requested_at = $2::timestamptz)
   SELECT exists (SELECT FROM begun) AS begun,
     exists (SELECT FROM packhouse.schedule_run WHERE schedule = $1 AND due = $2::timestamptz) AS known`,
);

/** $1 schedule, $2 due, $3 outcome, $4 what was said. */
const insertWithoutRun = statement(
  'schedules/insert-without-run',
  `INSERT INTO packhouse.schedule_run (schedule, due, ended_at, outcome, message)
   VALUES ($1, $2, clock_timestamp(), $3, $4)
   ON CONFLICT DO NOTHING`,
);

/** $1 schedule, $2 due. */
const updateSeen = statement(
  'schedules/update-seen',
  `UPDATE packhouse.schedule_run SET seen_at = clock_timestamp()
   WHERE schedule = $1 AND due = $2 AND ended_at IS NULL`,
);

/** $1 schedule, $2 due, $3 outcome, $4 exit code, $5 what was said. */
const updateEnd = statement(
  'schedules/update-end',
  `UPDATE packhouse.schedule_run
   SET ended_at = clock_timestamp(), seen_at = clock_timestamp(), outcome = $3, exit_code = $4::int4, message = $5
   WHERE schedule = $1 AND due = $2 AND ended_at IS NULL`,
);

const endLost = statement(
  'schedules/end-lost',
  `UPDATE packhouse.schedule_run
   SET ended_at = clock_timestamp(), outcome = 'failed', message = 'The packer that ran it ended without a word.'
   WHERE ended_at IS NULL AND seen_at < clock_timestamp() - interval '1 minute'`,
);

const deleteOld = statement(
  'schedules/delete-old',
  `DELETE FROM packhouse.schedule_run WHERE seen_at < clock_timestamp() - interval '1 year'`,
);

/** $1 schedule, $2 limit, $3 the earliest due time; null: any. */
const selectRuns = statement(
  'schedules/select-runs',
  `SELECT ${RUN_COLUMNS} FROM packhouse.schedule_run AS r
   WHERE r.schedule = $1 AND ($3::timestamptz IS NULL OR r.due >= $3::timestamptz)
   ORDER BY r.due DESC LIMIT $2`,
);

type Listed = Schedule & { now: Date; last: StoredRun | null };
type StoredRun = Omit<ScheduleRun, 'due' | 'startedAt' | 'endedAt'> & {
  due: string;
  startedAt: string | null;
  endedAt: string | null;
};

/**
 * Schedules and their runs. `actor` is noted in the history of changes, subject `schedule <name>`. All times are those
 * of the database's clock.
 */
export function createSchedules(connections: Connections) {
  const change = createNotedChange(connections, 'schedule', (session, name: string) =>
    session.queryOne(selectOne, [name]),
  );
  return {
    /** Returns false if the name is taken. */
    add: (schedule: NewSchedule, actor: string) =>
      change(insertSchedule, toValues(schedule), { action: 'add', actor }),
    /** Makes the schedules of a setting exactly these. */
    async keepOfSetting(setting: string, schedules: readonly NewSchedule[]): Promise<void> {
      await connections.query(deleteOfSetting, [setting, schedules.map(({ name }) => name)]);
      for (const schedule of schedules) await connections.query(upsertSchedule, toValues(schedule));
    },
    /** By name, each with its newest run and the database's time. */
    async list(): Promise<{ now: Date; schedules: (Schedule & { last: ScheduleRun | null })[] }> {
      const rows = await connections.query<Listed>(selectSchedules, []);
      return {
        now: rows[0]?.now ?? new Date(0),
        schedules: rows.map(({ now: _, last, ...schedule }) => ({ ...schedule, last: last && toRun(last) })),
      };
    },
    /** Returns false if there is none. One that goes on has no missed times. */
    setPaused: (name: string, paused: boolean, actor: string) =>
      change(updatePaused, [name, paused], { action: paused ? 'pause' : 'resume', actor }),
    /** Returns false if there is none. Its runs are kept. */
    remove: (name: string, actor: string) => change(deleteSchedule, [name], { action: 'remove', actor }),
    /** Asks for a run that begins at once, due now; false if there is none, or a run is asked for already. */
    requestRun: (name: string, actor: string) =>
      change(updateRequested, [name, null], { action: 'run', actor }),
    /** Asks for the run of a time that had none; false as above. */
    requestMissedRun: async (name: string, due: Date) =>
      (await connections.query(updateRequested, [name, due])).length > 0,
    /** Notes when a packer looked for missed times. */
    noteCheck: async (name: string, at: Date) => void (await connections.query(updateChecked, [name, at])),
    /**
     * Begins the run of a time: `running` if another one runs (the time is noted as skipped if `noteSkipped`), `known` if
     * this time had its run.
     */
    async begin(name: string, due: Date, noteSkipped: boolean): Promise<'begun' | 'running' | 'known'> {
      const row = await connections.queryOne<{ begun: boolean; known: boolean }>(insertRun, [name, due]);
      if (row?.begun) return 'begun';
      if (row?.known) return 'known';
      if (noteSkipped) {
        const message = 'The run before it still ran.';
        await connections.query(insertWithoutRun, [name, due, 'skipped', message]);
      }
      return 'running';
    },
    /** Reports that a run goes on; one without a report for a minute has failed. */
    heartbeat: async (name: string, due: Date) => void (await connections.query(updateSeen, [name, due])),
    end: async (name: string, due: Date, { outcome, exitCode, message }: RunEnd) =>
      void (await connections.query(updateEnd, [name, due, outcome, exitCode, message])),
    /** Notes a time without a run, unless it has one. */
    noteMissed: async (name: string, due: Date, message: string) =>
      void (await connections.query(insertWithoutRun, [name, due, 'missed', message])),
    /** Ends runs without a report for a minute, and forgets those of more than a year ago. */
    async sweep(): Promise<void> {
      await connections.query(endLost, []);
      await connections.query(deleteOld, []);
    },
    /** The newest first. */
    runs: (name: string, { limit, from }: { limit: number; from?: Date }) =>
      connections.query<ScheduleRun>(selectRuns, [name, limit, from ?? null]),
  };
}

function toValues(schedule: NewSchedule): [string, ...unknown[]] {
  const { name, owner, cron, zone, everyMs, missed, command, setting } = schedule;
  return [name, owner, cron, zone, everyMs, missed, command, setting];
}

function toRun(row: StoredRun): ScheduleRun {
  const date = (text: string | null): Date | null => (text === null ? null : new Date(text));
  return { ...row, due: new Date(row.due), startedAt: date(row.startedAt), endedAt: date(row.endedAt) };
}
