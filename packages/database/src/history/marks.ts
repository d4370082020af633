import { type Connections, statement } from '../connection/connections.js';

/** Something that happened. */
export interface HistoryMark {
  at: Date;
  kind:
    | 'deploy'
    | 'alarm-begin'
    | 'alarm-end'
    | 'drain'
    | 'resume'
    | 'cordon'
    | 'uncordon'
    | 'quarantine-begin'
    | 'quarantine-end'
    | 'backfill-begin'
    | 'backfill-end';
  /** null: of all networks. */
  network: string | null;
  /** The process, alarm, worker, node or backfill. */
  subject: string;
  message: string;
}

/** $1 role, $2 version. */
const insertDeploy = statement(
  'history/insert-deploy',
  `INSERT INTO packhouse.history_mark (kind, subject, message)
   SELECT 'deploy', $1::text, $1::text || ' ' || $2::text
   WHERE $1::text || ' ' || $2::text IS DISTINCT FROM (
     SELECT message FROM packhouse.history_mark WHERE kind = 'deploy' AND subject = $1::text ORDER BY id DESC LIMIT 1)`,
);

/** $1 kind, $2 network, $3 message. */
const insertQuarantine = statement(
  'history/insert-quarantine',
  `INSERT INTO packhouse.history_mark (kind, network, subject, message) VALUES ($1, $2, 'quarantine', $3)`,
);

/** Networks of which the newest mark of quarantine is that it began. */
const selectQuarantined = statement(
  'history/select-quarantined',
  `SELECT network FROM (
     SELECT DISTINCT ON (network) network, kind FROM packhouse.history_mark
     WHERE subject = 'quarantine' ORDER BY network, id DESC) AS last
   WHERE kind = 'quarantine-begin'`,
);

/** $1 how many stay. */
const deleteOld = statement(
  'history/delete-old-marks',
  `DELETE FROM packhouse.history_mark WHERE at < clock_timestamp() - interval '1 year' OR id <= (
     SELECT id FROM packhouse.history_mark ORDER BY id DESC OFFSET $1 LIMIT 1)`,
);

/** Marks that are kept. */
const MAX_KEPT = 20_000;

/** What a message of another table is cut to. */
const text = (column: string): string => `left(${column}, 300)`;

/** $1 since, $2 until, $3 network or null for all, $4 limit of each table: the newest first. */
const selectMarks = statement(
  'history/select-marks',
  `SELECT * FROM (
     (SELECT at, kind, network, subject, message FROM packhouse.history_mark
      WHERE at BETWEEN $1 AND $2 AND ($3::text IS NULL OR network IS NULL OR network = $3) ORDER BY at DESC LIMIT $4)
     UNION ALL
     (SELECT a.raised_at, 'alarm-begin', n.name, ${text('a.name')}, ${text('a.message')}
      FROM packhouse.alarm AS a JOIN packhouse.network AS n ON n.id = a.network_id
      WHERE a.raised_at BETWEEN $1 AND $2 AND ($3::text IS NULL OR n.name = $3) ORDER BY a.raised_at DESC LIMIT $4)
     UNION ALL
     (SELECT a.cleared_at, 'alarm-end', n.name, ${text('a.name')}, ${text('a.message')}
      FROM packhouse.alarm AS a JOIN packhouse.network AS n ON n.id = a.network_id
      WHERE a.cleared_at BETWEEN $1 AND $2 AND ($3::text IS NULL OR n.name = $3) ORDER BY a.cleared_at DESC LIMIT $4)
     UNION ALL
     (SELECT c.at, c.action, NULL, ${text('c.subject')}, ${text('c.actor')} FROM packhouse.change AS c
      WHERE c.at BETWEEN $1 AND $2 AND (c.action IN ('drain', 'resume') AND starts_with(c.subject, 'worker ')
        OR c.action IN ('cordon', 'uncordon') AND starts_with(c.subject, 'node ')
          AND ($3::text IS NULL OR starts_with(c.subject, 'node ' || $3 || ' ')))
      ORDER BY c.at DESC LIMIT $4)
     UNION ALL
     (SELECT b.created_at, 'backfill-begin', n.name, 'backfill ' || b.id,
        'blocks ' || b.first_block || ' to ' || coalesce(b.last_block::text, 'the head')
      FROM packhouse.backfill AS b JOIN packhouse.network AS n ON n.id = b.network_id
      WHERE b.created_at BETWEEN $1 AND $2 AND ($3::text IS NULL OR n.name = $3) ORDER BY b.created_at DESC LIMIT $4)
     UNION ALL
     (SELECT b.done_at, 'backfill-end', n.name, 'backfill ' || b.id, 'all of it is published'
      FROM packhouse.backfill AS b JOIN packhouse.network AS n ON n.id = b.network_id
      WHERE b.done_at BETWEEN $1 AND $2 AND ($3::text IS NULL OR n.name = $3) ORDER BY b.done_at DESC LIMIT $4)
     UNION ALL
     (SELECT b.stopped_at, 'backfill-end', n.name, 'backfill ' || b.id,
        left('cancelled by ' || b.stopped_by || coalesce(': ' || b.stopped_reason, ''), 300)
      FROM packhouse.backfill AS b JOIN packhouse.network AS n ON n.id = b.network_id
      WHERE b.stopped_at BETWEEN $1 AND $2 AND b.state = 'cancelled' AND ($3::text IS NULL OR n.name = $3)
      ORDER BY b.stopped_at DESC LIMIT $4)
   ) AS marks (at, kind, network, subject, message)
   ORDER BY at DESC LIMIT $4`,
);

/** What happened, from the tables that keep it, and what no other table keeps. */
export function createHistoryMarks(connections: Connections) {
  return {
    /** Notes that processes of a role run another version than the last one that began. */
    deployed: async (role: string, version: string) =>
      void (await connections.query(insertDeploy, [role, version])),
    /** Notes that a network has blocks in quarantine, or has no more. */
    quarantine: async (kind: 'quarantine-begin' | 'quarantine-end', network: string, message: string) =>
      void (await connections.query(insertQuarantine, [kind, network, message])),
    /** The networks that had blocks in quarantine when that was last looked at. */
    quarantined: async () =>
      (await connections.query<{ network: string }>(selectQuarantined, [])).map(({ network }) => network),
    /** Deletes all but the newest 20,000, and those older than a year. */
    forget: async () => void (await connections.query(deleteOld, [MAX_KEPT])),
    /** The newest `limit` of a time, the newest first; of a network also those of all networks. */
    list: (given: { since: Date; until: Date; network?: string | undefined; limit: number }) =>
      connections.query<HistoryMark>(selectMarks, [
        given.since,
        given.until,
        given.network ?? null,
        given.limit,
      ]),
  };
}
