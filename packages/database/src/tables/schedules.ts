import { type Connections, statement } from '../connection/connections.js';
import type { NewSchedule, Schedule, ScheduleRun, Schedules } from '../contract/schedules.js';
import { noteChange } from './changes.js';

const COLUMNS = `s.name, s.owner, s.cron, s.zone, s.every_ms AS "everyMs", s.missed, s.command, s.setting, s.paused,
  s.since, s.looked_at AS "lookedAt", s.asked_for AS "askedFor"`;

const RUN_COLUMNS = `r.schedule, r.due, r.started_at AS "startedAt", r.ended_at AS "endedAt", r.outcome,
  r.exit_code AS "exitCode", r.said`;

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
const updateAsked = statement(
  'schedules/update-asked',
  `UPDATE packhouse.schedule
   SET asked_for = date_trunc('milliseconds', coalesce($2::timestamptz, clock_timestamp()))
   WHERE name = $1 AND asked_for IS NULL RETURNING name`,
);

/** $1 name, $2 when. */
const updateLooked = statement(
  'schedules/update-looked',
  'UPDATE packhouse.schedule SET looked_at = $2 WHERE name = $1',
);

/** $1 name, $2 due. A second run of the name at a time, and a second of the same time, conflict. */
const insertRun = statement(
  'schedules/insert-run',
  `WITH begun AS (
     INSERT INTO packhouse.schedule_run (schedule, due, started_at) VALUES ($1, $2::timestamptz, clock_timestamp())
     ON CONFLICT DO NOTHING RETURNING schedule),
   answered AS (
     UPDATE packhouse.schedule SET asked_for = NULL WHERE name = $1 AND asked_for = $2::timestamptz)
   SELECT exists (SELECT FROM begun) AS begun,
     exists (SELECT FROM packhouse.schedule_run WHERE schedule = $1 AND due = $2::timestamptz) AS known`,
);

/** $1 schedule, $2 due, $3 outcome, $4 what was said. */
const insertWithoutRun = statement(
  'schedules/insert-without-run',
  `INSERT INTO packhouse.schedule_run (schedule, due, ended_at, outcome, said)
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
   SET ended_at = clock_timestamp(), seen_at = clock_timestamp(), outcome = $3, exit_code = $4::int4, said = $5
   WHERE schedule = $1 AND due = $2 AND ended_at IS NULL`,
);

const endLost = statement(
  'schedules/end-lost',
  `UPDATE packhouse.schedule_run
   SET ended_at = clock_timestamp(), outcome = 'failed', said = 'The packer that ran it ended without a word.'
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

/** Work that repeats, and its runs. */
export function createSchedules(connections: Connections): Schedules {
  const change = (
    query: ReturnType<typeof statement>,
    values: readonly unknown[],
    { name, action, who }: { name: string; action: string; who: string },
  ): Promise<boolean> =>
    connections.transaction(async (session) => {
      const read = async () => (await session.query<Readonly<Record<string, unknown>>>(selectOne, [name]))[0];
      const before = (await read()) ?? null;
      if ((await session.query(query, values)).length === 0) return false;
      const after = (await read()) ?? null;
      await noteChange(session, { who, subject: `schedule ${name}`, action, before, after });
      return true;
    });
  return {
    add: (schedule, who) =>
      change(insertSchedule, valuesOf(schedule), { name: schedule.name, action: 'add', who }),
    keepOfSetting: async (setting, schedules) => {
      await connections.query(deleteOfSetting, [setting, schedules.map(({ name }) => name)]);
      for (const schedule of schedules) await connections.query(upsertSchedule, valuesOf(schedule));
    },
    list: async () => {
      const rows = await connections.query<Listed>(selectSchedules, []);
      return {
        now: rows[0]?.now ?? new Date(0),
        schedules: rows.map(({ now: _, last, ...schedule }) => ({
          ...schedule,
          last: last === null ? null : runOf(last),
        })),
      };
    },
    setPaused: (name, paused, who) =>
      change(updatePaused, [name, paused], { name, action: paused ? 'pause' : 'resume', who }),
    remove: (name, who) => change(deleteSchedule, [name], { name, action: 'remove', who }),
    ask: (name, who) => change(updateAsked, [name, null], { name, action: 'run', who }),
    askMissed: async (name, due) => (await connections.query(updateAsked, [name, due])).length > 0,
    looked: async (name, at) => void (await connections.query(updateLooked, [name, at])),
    begin: async (name, due, noteSkipped) => {
      const [row] = await connections.query<{ begun: boolean; known: boolean }>(insertRun, [name, due]);
      if (row?.begun) return 'begun';
      if (row?.known) return 'known';
      if (noteSkipped) {
        const said = 'The run before it still ran.';
        await connections.query(insertWithoutRun, [name, due, 'skipped', said]);
      }
      return 'running';
    },
    alive: async (name, due) => void (await connections.query(updateSeen, [name, due])),
    end: async (name, due, { outcome, exitCode, said }) =>
      void (await connections.query(updateEnd, [name, due, outcome, exitCode, said])),
    noteMissed: async (name, due, said) =>
      void (await connections.query(insertWithoutRun, [name, due, 'missed', said])),
    sweep: async () => {
      await connections.query(endLost, []);
      await connections.query(deleteOld, []);
    },
    runs: (name, { limit, from }) => connections.query<ScheduleRun>(selectRuns, [name, limit, from ?? null]),
  };
}

function valuesOf(schedule: NewSchedule): unknown[] {
  const { name, owner, cron, zone, everyMs, missed, command, setting } = schedule;
  return [name, owner, cron, zone, everyMs, missed, command, setting];
}

function runOf(row: StoredRun): ScheduleRun {
  const date = (text: string | null): Date | null => (text === null ? null : new Date(text));
  return { ...row, due: new Date(row.due), startedAt: date(row.startedAt), endedAt: date(row.endedAt) };
}
