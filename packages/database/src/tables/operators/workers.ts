import { type Connections, statement } from '../../connection/connections.js';

/** What a process that takes jobs says of itself. */
export interface WorkerHeartbeat {
  /** A UUID that it made when it started. */
  id: string;
  role: 'ingester' | 'packer';
  host: string;
  pid: number;
  /** Ids of the networks that it takes jobs of. */
  networks: readonly string[];
  /** Of the networks file that it has in force: equal digests mean equal files. */
  networksDigest: string;
  /** Why it refused the last change of that file; null if it did not. */
  networksProblem: string | null;
  /** Jobs that it runs at a time. */
  slots: number;
  /** The jobs that it runs, and for how long. */
  jobs: readonly { job: string; seconds: number }[];
  /** Of a packer: whether it has an SMTP server for notifications; null, or absent: it sends none. */
  sendsMail?: boolean | null;
}

export interface WorkerRow extends WorkerHeartbeat {
  /** Whether an operator told it to take no further job. */
  draining: boolean;
  /** Since when; null: it takes jobs. */
  drainingSince: Date | null;
  startedAt: Date;
  /** By the clock of the database. */
  seenAt: Date;
}

/** A process that was not seen for so long has ended. */
const GONE_AFTER = "interval '15 seconds'";

/** $1 the heartbeat, as JSON. */
const upsertWorker = statement(
  'workers/upsert-worker',
  `INSERT INTO packhouse.worker AS w
     (id, role, host, pid, networks, slots, jobs, networks_digest, networks_problem, sends_mail)
   SELECT id, role, host, pid, networks, slots, jobs, "networksDigest", "networksProblem", "sendsMail"
   FROM jsonb_to_record($1::jsonb) AS given (id uuid, role text, host text, pid int4, networks text[], slots int4,
     jobs jsonb, "networksDigest" text, "networksProblem" text, "sendsMail" bool)
   ON CONFLICT (id) DO UPDATE SET
     networks = excluded.networks, slots = excluded.slots, jobs = excluded.jobs, seen_at = clock_timestamp(),
     networks_digest = excluded.networks_digest, networks_problem = excluded.networks_problem
   RETURNING w.draining_since IS NOT NULL AS draining`,
);

/** $1 id: also those that ended without a word. Their networks keep when an ingester of them was last seen. */
const deleteWorker = statement(
  'workers/delete-worker',
  `WITH gone AS (
     DELETE FROM packhouse.worker WHERE id = $1 OR seen_at < clock_timestamp() - interval '1 day'
     RETURNING role, networks, seen_at
   ), seen AS (
     SELECT n.name, max(g.seen_at) AS at FROM gone AS g, unnest(g.networks) AS n (name)
     WHERE g.role = 'ingester' GROUP BY n.name
   )
   UPDATE packhouse.network AS n SET ingester_seen_at = greatest(n.ingester_seen_at, seen.at)
   FROM seen WHERE n.name = seen.name`,
);

const selectWorkers = statement(
  'workers/select-workers',
  `SELECT id, role, host, pid, networks, slots, jobs, draining_since IS NOT NULL AS draining,
     draining_since AS "drainingSince", sends_mail AS "sendsMail", networks_digest AS "networksDigest", networks_problem AS "networksProblem", started_at AS "startedAt", seen_at AS "seenAt"
   FROM packhouse.worker WHERE seen_at > clock_timestamp() - ${GONE_AFTER}
   ORDER BY role, host, started_at, id`,
);

/** $1 network. */
const selectSlots = statement(
  'workers/select-slots',
  `SELECT coalesce(sum(slots), 0)::int4 AS slots FROM packhouse.worker
   WHERE role = 'ingester' AND draining_since IS NULL AND $1 = ANY (networks) AND seen_at > clock_timestamp() - ${GONE_AFTER}`,
);

/** One row, of null if there is no ingester. */
const selectNetworksOfWorkers = statement(
  'workers/select-networks',
  `SELECT CASE WHEN count(DISTINCT w.id) > 0
     THEN coalesce(array_agg(DISTINCT n.name) FILTER (WHERE n.name IS NOT NULL), '{}') END AS networks
   FROM packhouse.worker AS w LEFT JOIN LATERAL unnest(w.networks) AS n (name) ON true
   WHERE w.role = 'ingester' AND w.seen_at > clock_timestamp() - interval '1 day'`,
);

/** $1 id, $2 draining. */
const updateDraining = statement(
  'workers/update-draining',
  `UPDATE packhouse.worker
   SET draining_since = CASE WHEN $2::bool THEN coalesce(draining_since, clock_timestamp()) END
   WHERE id = $1 RETURNING id`,
);

/** By network; of those that had one. Workers that were killed are rows for a day. */
const selectIngesterSeen = statement(
  'workers/select-ingester-seen',
  `SELECT n.name AS network, greatest(n.ingester_seen_at, max(w.seen_at)) AS at
   FROM packhouse.network AS n
   LEFT JOIN (SELECT unnest(networks) AS network, seen_at FROM packhouse.worker WHERE role = 'ingester') AS w
     ON w.network = n.name
   GROUP BY n.id HAVING n.ingester_seen_at IS NOT NULL OR max(w.seen_at) IS NOT NULL`,
);

/** The processes that take jobs, by their heartbeats. */
export function createWorkers(connections: Connections) {
  return {
    /** Writes a heartbeat; to be repeated every few seconds. Returns what operators told it. */
    async heartbeat(worker: WorkerHeartbeat): Promise<{ draining: boolean }> {
      const values = [JSON.stringify(worker)];
      const row = await connections.queryOne<{ draining: boolean }>(upsertWorker, values);
      return { draining: row?.draining ?? false };
    },
    /** Removes its row. */
    leave: async (id: string) => void (await connections.query(deleteWorker, [id])),
    /** Those seen in the last 15 s, by role and host. */
    list: () => connections.query<WorkerRow>(selectWorkers, []),
    /** When an ingester of a network was last seen, by network; those that never had one are left out. */
    ingesterSeen: async () =>
      new Map(
        (await connections.query<{ network: string; at: Date }>(selectIngesterSeen, [])).map(
          ({ network, at }) => [network, at],
        ),
      ),
    /** Ingest jobs that live ingesters of a network run at a time, those that drain left out. */
    slots: async (network: string) =>
      (await connections.queryOne<{ slots: number }>(selectSlots, [network]))?.slots ?? 0,
    /** Networks of all ingesters that did not leave, also of those that were killed, for a day; null if there is none. */
    async networks(): Promise<string[] | null> {
      const row = await connections.queryOne<{ networks: string[] | null }>(selectNetworksOfWorkers, []);
      return row?.networks ?? null;
    },
    /** Returns false if there is no such worker. */
    setDraining: async (id: string, draining: boolean) =>
      (await connections.query(updateDraining, [id, draining])).length > 0,
  };
}
