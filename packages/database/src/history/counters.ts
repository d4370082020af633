import { type Connections, statement } from '../connection/connections.js';

/** What has only been counted up: by the day, or since a process began. */
type Counter = {
  /** Whose it is: a key's id, a provider, or an upstream as JSON of its network and name. */
  name: string;
  /** What it belongs to, of which one name may have several: a day, or a process. */
  part: string;
  /** In the order of the statement. */
  counts: number[];
};

/** How Postgres says the time. */
const selectNow = statement(
  'history/select-now',
  `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`,
);

/** Today and yesterday (UTC): what is counted late belongs to the day before. */
const TWO_DAYS = `((now() AT TIME ZONE 'UTC')::date - date '1970-01-01') - 1`;

const selectKeys = statement(
  'history/select-keys',
  `SELECT key_id::text AS name, day::text AS part, ARRAY[calls, downloads, errors, requests, bytes]::float8[] AS counts
   FROM packhouse.key_usage WHERE day >= ${TWO_DAYS}`,
);

const selectProviders = statement(
  'history/select-providers',
  `SELECT provider AS name, day::text AS part, ARRAY[sum(requests), sum(units), sum(bytes)]::float8[] AS counts
   FROM packhouse.upstream_usage WHERE day >= ${TWO_DAYS} GROUP BY provider, day`,
);

/** Reports of the last 15 s, as in `nodes`; a process of an earlier version reports no totals. */
const selectNodes = statement(
  'history/select-nodes',
  `SELECT network, upstream, process AS part, (report ->> 'head')::float8 AS head, report -> 'totals' AS totals,
     report ->> 'state' IN ('another-chain', 'left-out') AS excluded
   FROM packhouse.node_report WHERE seen_at > clock_timestamp() - interval '15 seconds'
   LIMIT 20000`,
);

/** What one process counted of a node since it began, and the head that it saw. */
export interface NodeCounter {
  network: string;
  upstream: string;
  part: string;
  head: number | null;
  totals: { calls: number; errors: number; answers: number; ms: number } | null;
  /** Whether its head does not count. */
  excluded: boolean;
}

/** Reads what the history is sampled from and no other table of this package reads as a whole. */
export function createHistoryCounters(connections: Connections) {
  return {
    /** Milliseconds since 1970-01-01, by the clock of Postgres. */
    nowMs: async () => (await connections.queryOne<{ nowMs: number }>(selectNow, []))!.nowMs,
    /** By key and day: calls, downloads, errors, units, bytes. */
    keys: () => connections.query<Counter>(selectKeys, []),
    /** By provider and day: requests, units, bytes. */
    providers: () => connections.query<Counter>(selectProviders, []),
    /** By node and process. */
    nodes: () => connections.query<NodeCounter>(selectNodes, []),
  };
}
