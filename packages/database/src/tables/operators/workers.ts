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
}

export interface WorkerRow extends WorkerHeartbeat {
  /** Whether an operator told it to take no further job. */
  draining: boolean;
  startedAt: Date;
  /** By the clock of the database. */
  seenAt: Date;
}

/** A process that was not seen for so long has ended. */
const GONE_AFTER = "interval '15 seconds'";

/** $1 the heartbeat, as JSON. */
const upsertWorker = statement(
  'workers/upsert-worker',
  `INSERT INTO packhouse.worker AS w (id, role, host, pid, networks, slots, jobs, networks_digest, networks_problem)
   SELECT id, role, host, pid, networks, slots, jobs, "networksDigest", "networksProblem"
   FROM jsonb_to_record($1::jsonb) AS given (id uuid, role text, host text, pid int4, networks text[], slots int4,
     jobs jsonb, "networksDigest" text, "networksProblem" text)
   ON CONFLICT (id) DO UPDATE SET
     networks = excluded.networks, slots = excluded.slots, jobs = excluded.jobs, seen_at = clock_timestamp(),
     networks_digest = excluded.networks_digest, networks_problem = excluded.networks_problem
   RETURNING w.draining`,
);

/** $1 id: also those that ended without a word. */
const deleteWorker = statement(
  'workers/delete-worker',
  `DELETE FROM packhouse.worker WHERE id = $1 OR seen_at < clock_timestamp() - interval '1 day'`,
);

const selectWorkers = statement(
  'workers/select-workers',
  `SELECT id, role, host, pid, networks, slots, jobs, draining,
     networks_digest AS "networksDigest", networks_problem AS "networksProblem", started_at AS "startedAt", seen_at AS "seenAt"
   FROM packhouse.worker WHERE seen_at > clock_timestamp() - ${GONE_AFTER}
   ORDER BY role, host, started_at, id`,
);

/** $1 network. */
const selectSlots = statement(
  'workers/select-slots',
  `SELECT coalesce(sum(slots), 0)::int4 AS slots FROM packhouse.worker
   WHERE role = 'ingester' AND NOT draining AND $1 = ANY (networks) AND seen_at > clock_timestamp() - ${GONE_AFTER}`,
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
  'UPDATE packhouse.worker SET draining = $2 WHERE id = $1 RETURNING id',
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
