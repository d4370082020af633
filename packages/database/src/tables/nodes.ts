import { type Connections, statement } from '../connection/connections.js';
import type { NodeCordon, NodeReportRow, Nodes } from '../contract/nodes.js';

/** A process that did not report for so long has ended. */
const GONE_AFTER = "interval '15 seconds'";

/** $1 process, $2 role, $3 host, $4 networks, $5 upstreams, $6 providers, $7 reports. */
const replaceReports = statement(
  'nodes/replace-reports',
  `WITH given AS (
     SELECT * FROM unnest($4::text[], $5::text[], $6::text[], $7::jsonb[]) AS g (network, upstream, provider, report)
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

const selectCordons = statement(
  'nodes/select-cordons',
  'SELECT network, upstream, who, why, at FROM packhouse.node_cordon ORDER BY network, upstream',
);

/** $1 network, $2 upstream, $3 who, $4 why. */
const insertCordon = statement(
  'nodes/insert-cordon',
  `INSERT INTO packhouse.node_cordon (network, upstream, who, why) VALUES ($1, $2, $3, $4)
   ON CONFLICT (network, upstream) DO NOTHING
   RETURNING network, upstream, who, why, at`,
);

/** $1 network, $2 upstream. */
const deleteCordon = statement(
  'nodes/delete-cordon',
  `DELETE FROM packhouse.node_cordon WHERE network = $1 AND upstream = $2
   RETURNING network, upstream, who, why, at`,
);

/** What is known of upstreams, and which are taken out. */
export function createNodes(connections: Connections): Nodes {
  return {
    report: async ({ process, role, host }, rows) => {
      await connections.query(replaceReports, [
        ...[process, role, host],
        rows.map(({ network }) => network),
        rows.map(({ upstream }) => upstream),
        rows.map(({ provider }) => provider),
        rows.map(({ report }) => JSON.stringify(report)),
      ]);
    },
    leave: async (process) => void (await connections.query(deleteReports, [process])),
    list: ({ network, limit }) => connections.query<NodeReportRow>(selectReports, [network ?? null, limit]),
    cordons: () => connections.query<NodeCordon>(selectCordons, []),
    cordon: async ({ network, upstream, who, why }) => {
      const [row] = await connections.query<NodeCordon>(insertCordon, [network, upstream, who, why]);
      return row ?? null;
    },
    uncordon: async (network, upstream) => {
      const [row] = await connections.query<NodeCordon>(deleteCordon, [network, upstream]);
      return row ?? null;
    },
  };
}
