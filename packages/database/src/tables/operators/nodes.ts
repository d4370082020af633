import { type Connections, statement } from '../../connection/connections.js';

/** What one process knows of one upstream. No field has credentials, or more of an address than its host. */
export interface NodeReport {
  /** `ok`: asked like any other; else why it is not. */
  state: 'ok' | 'resting' | 'another-chain' | 'left-out' | 'another-branch' | 'distrusted' | 'cordoned';
  /** For how many milliseconds it was so when it was reported. Absent: an earlier version. */
  stateForMs?: number;
  /** Client version; null: unknown. */
  client: string | null;
  head: number | null;
  /** HTTP requests under way, and how many may be. */
  inFlight: number;
  maxInFlight: number;
  /** Blocks and answers that failed a proof, since the process began. */
  invalidResponses: number;
  /** Why it gets no reads: most others have another final block; null: it gets them. */
  leftOut: string | null;
  /** Why backfills may not ask it now, by its budget; null: they may. */
  throttledBy: string | null;
  /** Of the last five minutes, the most asked first. `ms`: mean time of an answer; null: there was none. */
  methods: { method: string; calls: number; ms: number | null }[];
  /** Of the last five minutes, by meaning. */
  errors: { meaning: string; calls: number }[];
  /** Since the process began; `ms`: how long all HTTP answers took together. Absent: an earlier version. */
  totals?: { calls: number; errors: number; answers: number; ms: number };
  lastError: string | null;
  /** For how many milliseconds it had only failed when it was reported; null: it answers. Absent: an earlier version. */
  failingForMs?: number | null;
  capabilities: string[];
  missingCapabilities: string[];
}

export interface NodeReportRow {
  /** A UUID that the process made when it started. */
  process: string;
  role: 'ingester' | 'gateway';
  host: string;
  network: string;
  upstream: string;
  provider: string;
  report: NodeReport;
  /** By the clock of the database. */
  seenAt: Date;
}

/** Whether a node answers, as one process sees it: the part of its report that says so. */
export type NodeHealth = Pick<NodeReportRow, 'network' | 'upstream' | 'seenAt'> & {
  report: Pick<NodeReport, 'state' | 'failingForMs' | 'lastError'>;
};

export interface NodeCordon {
  network: string;
  upstream: string;
  actor: string;
  reason: string;
  at: Date;
}

/** A process that did not report for so long has ended. */
const GONE_AFTER = "interval '15 seconds'";

/** $1 process, $2 role, $3 host, $4 reports, as JSON. */
const replaceReports = statement(
  'nodes/replace-reports',
  `WITH given AS (
     SELECT * FROM jsonb_to_recordset($4::jsonb) AS g (network text, upstream text, provider text, report jsonb)
   ), gone AS (
     DELETE FROM packhouse.node_report AS r WHERE process = $1 AND NOT EXISTS (
       SELECT FROM given WHERE given.network = r.network AND given.upstream = r.upstream)
   )
   INSERT INTO packhouse.node_report (process, role, host, network, upstream, provider, report)
   SELECT $1, $2, $3, network, upstream, provider, report FROM given
   ON CONFLICT (process, network, upstream) DO UPDATE SET
     provider = excluded.provider, report = excluded.report, seen_at = clock_timestamp()`,
);

/** $1 process: also those that ended without a word. */
const deleteReports = statement(
  'nodes/delete-reports',
  `DELETE FROM packhouse.node_report WHERE process = $1 OR seen_at < clock_timestamp() - interval '1 hour'`,
);

/** $1 network or null for all, $2 limit. */
const selectReports = statement(
  'nodes/select-reports',
  `SELECT process, role, host, network, upstream, provider, report, seen_at AS "seenAt"
   FROM packhouse.node_report
   WHERE seen_at > clock_timestamp() - ${GONE_AFTER} AND ($1::text IS NULL OR network = $1)
   ORDER BY network, upstream, role, host, process LIMIT $2`,
);

/** $1 networks or null for all, $2 limit: a part of each report, as a whole one has a kilobyte. */
const selectHealth = statement(
  'nodes/select-health',
  `SELECT network, upstream, seen_at AS "seenAt", jsonb_build_object('state', report -> 'state',
     'failingForMs', report -> 'failingForMs', 'lastError', report -> 'lastError') AS report
   FROM packhouse.node_report
   WHERE seen_at > clock_timestamp() - ${GONE_AFTER} AND ($1::text[] IS NULL OR network = ANY ($1::text[]))
   ORDER BY network, upstream, role, host, process LIMIT $2`,
);

const selectCordons = statement(
  'nodes/select-cordons',
  'SELECT network, upstream, actor, reason, at FROM packhouse.node_cordon ORDER BY network, upstream',
);

/** $1 network, $2 upstream, $3 actor, $4 reason. */
const insertCordon = statement(
  'nodes/insert-cordon',
  `INSERT INTO packhouse.node_cordon (network, upstream, actor, reason) VALUES ($1, $2, $3, $4)
   ON CONFLICT (network, upstream) DO NOTHING
   RETURNING network, upstream, actor, reason, at`,
);

/** $1 network, $2 upstream. */
const deleteCordon = statement(
  'nodes/delete-cordon',
  `DELETE FROM packhouse.node_cordon WHERE network = $1 AND upstream = $2
   RETURNING network, upstream, actor, reason, at`,
);

/** The upstreams, as the processes that ask them report; and those that operators cordoned. */
export function createNodes(connections: Connections) {
  return {
    /** Replaces what a process reports. */
    report: async (
      { process, role, host }: Pick<NodeReportRow, 'process' | 'role' | 'host'>,
      rows: readonly Pick<NodeReportRow, 'network' | 'upstream' | 'provider' | 'report'>[],
    ) => void (await connections.query(replaceReports, [process, role, host, JSON.stringify(rows)])),
    /** Removes what it reported. */
    leave: async (process: string) => void (await connections.query(deleteReports, [process])),
    /** Reports of the last 15 s, of one network or of all, by network and upstream. */
    list: ({ network, limit }: { network?: string | undefined; limit: number }) =>
      connections.query<NodeReportRow>(selectReports, [network ?? null, limit]),
    /** The same, but only whether they answer; of some networks or of all. */
    health: ({ networks, limit }: { networks?: readonly string[] | undefined; limit: number }) =>
      connections.query<NodeHealth>(selectHealth, [networks ?? null, limit]),
    cordons: () => connections.query<NodeCordon>(selectCordons, []),
    /** Returns null if it is cordoned already: that stays as it is. */
    cordon: ({ network, upstream, actor, reason }: Omit<NodeCordon, 'at'>) =>
      connections.queryOne<NodeCordon>(insertCordon, [network, upstream, actor, reason]),
    /** Returns what was ended; null: there was none. */
    uncordon: (network: string, upstream: string) =>
      connections.queryOne<NodeCordon>(deleteCordon, [network, upstream]),
  };
}
