import { type Connections, statement } from '../../connection/connections.js';

/** `critical` is for now, `warning` for today. */
export type Severity = 'warning' | 'critical';

/** Something that operators are notified of: it begins, and ends. */
export interface Condition {
  /** Names it, so that it is one thing though it begins again and again: `alarm ethereum STANDSTILL`. */
  key: string;
  /** In capitals, as alarms and error codes are. */
  name: string;
  /** Null: it concerns the whole installation. */
  network: string | null;
  severity: Severity;
  message: string;
  /** When it last began. */
  since: Date;
  /** Null: open. */
  endedAt: Date | null;
  /** How often it began. */
  times: number;
}

/** What is no alarm: it is found anew at each look, and ends when it is not found any more. */
type Family = 'backfill' | 'budget' | 'key' | 'schedule';
type Found = Pick<Condition, 'key' | 'name' | 'network' | 'severity' | 'message'>;

/** Ids of alarms are taken before they are committed: so many below the highest one may still appear. */
const LATE_IDS = 1_000;

/**
 * $1 names of alarms that are warnings. Each raise of an alarm is a row, so one that was raised and cleared between two
 * looks counts too. Of a first look, what was cleared a day ago is left out.
 */
const upsertAlarms = statement(
  'conditions/upsert-alarms',
  `WITH found AS (
     SELECT n.name AS network, max(a.id) AS id, count(*) AS times
     FROM packhouse.alarm AS a JOIN packhouse.network AS n ON n.id = a.network_id
     LEFT JOIN packhouse.condition AS c ON c.key = 'alarm ' || n.name || ' ' || a.name
     WHERE (a.cleared_at IS NULL OR a.id > (
         SELECT coalesce(max(alarm_id), (SELECT max(id) FROM packhouse.alarm)) - ${LATE_IDS} FROM packhouse.condition))
       AND a.id > coalesce(c.alarm_id, 0)
       AND (c.key IS NOT NULL OR a.cleared_at IS NULL OR a.cleared_at > clock_timestamp() - interval '1 day')
     GROUP BY n.name, a.name
   )
   INSERT INTO packhouse.condition AS c
     (key, family, name, network, severity, message, alarm_id, since, ended_at, times)
   SELECT 'alarm ' || f.network || ' ' || a.name, 'alarm', a.name, f.network,
     CASE WHEN a.name = ANY ($1::text[]) THEN 'warning' ELSE 'critical' END,
     a.message, a.id, a.raised_at, a.cleared_at, f.times
   FROM found AS f JOIN packhouse.alarm AS a ON a.id = f.id
   ON CONFLICT (key) DO UPDATE SET severity = excluded.severity, message = excluded.message,
     alarm_id = excluded.alarm_id, since = excluded.since, ended_at = excluded.ended_at,
     times = c.times + excluded.times
   RETURNING 1`,
);

const updateAlarms = statement(
  'conditions/update-alarms',
  `UPDATE packhouse.condition AS c SET ended_at = a.cleared_at, message = a.message FROM packhouse.alarm AS a
   WHERE c.family = 'alarm' AND c.ended_at IS NULL AND a.id = c.alarm_id
     AND (a.cleared_at IS NOT NULL OR a.message <> c.message)
   RETURNING 1`,
);

/** $1 family, $2 what was found, as JSON. */
const upsertFound = statement(
  'conditions/upsert-found',
  `WITH found AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($2::jsonb)
       AS f (key text, name text, network text, severity text, message text)
   ), ended AS (
     UPDATE packhouse.condition SET ended_at = clock_timestamp()
     WHERE family = $1 AND ended_at IS NULL AND key NOT IN (SELECT key FROM found) RETURNING 1
   ), begun AS (
   INSERT INTO packhouse.condition AS c (key, family, name, network, severity, message, since)
   SELECT key, $1, name, network, severity, message, clock_timestamp() FROM found
   ON CONFLICT (key) DO UPDATE SET severity = excluded.severity, message = excluded.message, ended_at = NULL,
     since = CASE WHEN c.ended_at IS NULL THEN c.since ELSE excluded.since END,
     times = c.times + CASE WHEN c.ended_at IS NULL THEN 0 ELSE 1 END
   WHERE c.ended_at IS NOT NULL OR (c.severity, c.message) <> (excluded.severity, excluded.message)
   RETURNING 1)
   SELECT 1 FROM ended UNION ALL SELECT 1 FROM begun`,
);

/** Alarms are few by name; of the others there is no end. */
const deleteOld = statement(
  'conditions/delete-old',
  `DELETE FROM packhouse.condition WHERE family <> 'alarm' AND ended_at < clock_timestamp() - interval '30 days'`,
);

/** $1 limit. Until a minute after it, a backfill may be complete and not be noted so. */
const selectMissedDeadlines = statement(
  'conditions/select-missed-deadlines',
  `SELECT b.id, n.name AS network, b.owner, b.deadline FROM packhouse.backfill AS b
   JOIN packhouse.network AS n ON n.id = b.network_id
   WHERE b.deadline < clock_timestamp() - interval '1 minute' AND NOT b.done AND b.state <> 'cancelled'
   ORDER BY b.deadline DESC LIMIT $1`,
);

/** The last run of each schedule that ended, if it failed or was missed. */
const selectFailedSchedules = statement(
  'conditions/select-failed-schedules',
  `SELECT s.name, r.due, r.outcome, r.exit_code AS "exitCode", r.message FROM packhouse.schedule AS s
   CROSS JOIN LATERAL (
     SELECT due, outcome, exit_code, message FROM packhouse.schedule_run
     WHERE schedule = s.name AND outcome IN ('done', 'failed', 'missed') ORDER BY due DESC LIMIT 1) AS r
   WHERE r.outcome <> 'done' ORDER BY s.name`,
);

type MissedDeadline = { id: number; network: string; owner: string; deadline: Date };
type FailedSchedule = {
  name: string;
  due: Date;
  outcome: 'failed' | 'missed';
  exitCode: number | null;
  message: string | null;
};

/** What notifications are about. One packer at a time writes it. */
export function createConditions(connections: Connections) {
  return {
    /** Follows the table of alarms; those of these names are warnings. Returns whether something changed. */
    async followAlarms(warnings: readonly string[]): Promise<boolean> {
      const raised = await connections.query(upsertAlarms, [warnings]);
      const changed = await connections.query(updateAlarms, []);
      return raised.length + changed.length > 0;
    },
    /** Makes the open conditions of a family exactly these. Returns whether something changed. */
    keep: async (family: Family, found: readonly Found[]) =>
      (await connections.query(upsertFound, [family, JSON.stringify(found)])).length > 0,
    /** Forgets those that ended a month ago, but for alarms. */
    sweep: async () => void (await connections.query(deleteOld, [])),
    /** Backfills that are not complete though their deadline is over; the newest deadlines. */
    missedDeadlines: (limit: number) => connections.query<MissedDeadline>(selectMissedDeadlines, [limit]),
    failedSchedules: () => connections.query<FailedSchedule>(selectFailedSchedules, []),
  };
}
