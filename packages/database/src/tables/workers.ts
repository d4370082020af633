import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';
import type { WorkerRow } from '../contract/workers.js';

/** A process that was not seen for so long has ended. */
const GONE_AFTER = "interval '15 seconds'";

/** $1 id, $2 role, $3 host, $4 pid, $5 networks, $6 slots, $7 doing, $8 digest of the networks file, $9 problem of it. */
const upsertWorker = statement(
  'workers/upsert-worker',
  `INSERT INTO packhouse.worker AS w (id, role, host, pid, networks, slots, doing, networks_digest, networks_problem)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   ON CONFLICT (id) DO UPDATE SET
     networks = excluded.networks, slots = excluded.slots, doing = excluded.doing, seen_at = clock_timestamp(),
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
  `SELECT id, role, host, pid, networks, slots, doing, draining,
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

/** The processes that take jobs. */
export function createWorkers(connections: Connections): Database['workers'] {
  return {
    beat: async ({ id, role, host, pid, networks, slots, doing, networksDigest, networksProblem }) => {
      const values = [
        ...[id, role, host, pid, networks, slots, JSON.stringify(doing)],
        ...[networksDigest, networksProblem],
      ];
      const [row] = await connections.query<{ draining: boolean }>(upsertWorker, values);
      return { draining: row?.draining ?? false };
    },
    leave: async (id) => void (await connections.query(deleteWorker, [id])),
    list: () => connections.query<WorkerRow>(selectWorkers, []),
    slots: async (network) => {
      const [row] = await connections.query<{ slots: number }>(selectSlots, [network]);
      return row?.slots ?? 0;
    },
    networks: async () => {
      const [row] = await connections.query<{ networks: string[] | null }>(selectNetworksOfWorkers, []);
      return row?.networks ?? null;
    },
    setDraining: async (id, draining) => (await connections.query(updateDraining, [id, draining])).length > 0,
  };
}
