import { type Connections, statement } from '../../connection/connections.js';

/** Requests that were sent to one upstream on one day. */
type SpentCount = SpentFigures & {
  /** Days since 1970-01-01 in UTC. */
  day: number;
  network: string;
  upstream: string;
  provider: string;
  /** By the name that the node knows. */
  method: string;
  /** The owner of a range, or the application of a key; `-`: nobody. */
  owner: string;
  /** Id of the backfill; null: none. */
  backfill: number | null;
};

type SpentFigures = {
  /** A batch of ten counts ten. */
  requests: number;
  /** What they cost by the weights of the provider's budget. */
  units: number;
  /** Received. */
  bytes: number;
};

const SUMS = 'sum(requests)::int8, sum(units)::int8, sum(bytes)::int8';
const ADDED =
  'requests = u.requests + excluded.requests, units = u.units + excluded.units, bytes = u.bytes + excluded.bytes';

/**
 * $1 counts, as JSON.
 *
 * One table after the other, each in the order of its key, so that two processes never wait for each other.
 */
const addSpent = statement(
  'spending/add',
  `WITH given AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS counts (day int4, network text, upstream text, provider text,
       method text, owner text, backfill int8, requests int8, units int8, bytes int8)
   ), of_upstream AS (
     INSERT INTO packhouse.upstream_usage AS u (day, provider, network, upstream, method, requests, units, bytes)
     SELECT day, provider, network, upstream, method, ${SUMS} FROM given
     GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
     ON CONFLICT (day, provider, network, upstream, method) DO UPDATE SET ${ADDED}
     RETURNING 1
   ), of_owner AS (
     INSERT INTO packhouse.owner_usage AS u (day, owner, requests, units, bytes)
     SELECT day, owner, ${SUMS} FROM given WHERE (SELECT count(*) FROM of_upstream) > 0
     GROUP BY 1, 2 ORDER BY 1, 2
     ON CONFLICT (day, owner) DO UPDATE SET ${ADDED}
     RETURNING 1
   )
   INSERT INTO packhouse.backfill_usage AS u (backfill_id, day, requests, units, bytes)
   SELECT backfill, max(day), ${SUMS} FROM given
   WHERE backfill IS NOT NULL AND (SELECT count(*) FROM of_owner) > 0
   GROUP BY 1 ORDER BY 1
   ON CONFLICT (backfill_id) DO UPDATE SET day = greatest(u.day, excluded.day), ${ADDED}`,
);

const FIGURES = 'sum(requests)::int8 AS requests, sum(units)::int8 AS units, sum(bytes)::int8 AS bytes';

/** $1 first day, $2 last day. */
const selectUpstreams = statement(
  'spending/upstreams',
  `SELECT provider, network, upstream, method, ${FIGURES} FROM packhouse.upstream_usage
   WHERE day BETWEEN $1 AND $2 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
);

/** $1 first day, $2 last day. */
const selectOwners = statement(
  'spending/owners',
  `SELECT day, owner, requests, units, bytes FROM packhouse.owner_usage
   WHERE day BETWEEN $1 AND $2 ORDER BY 1, 2`,
);

/** $1 ids of backfills. */
const selectRanges = statement(
  'spending/ranges',
  `SELECT backfill_id AS id, requests, units, bytes FROM packhouse.backfill_usage
   WHERE backfill_id = ANY ($1::int8[])`,
);

const buildDeleteOld = (table: string): string =>
  `DELETE FROM packhouse.${table} WHERE day < ((now() AT TIME ZONE 'UTC')::date - date '1970-01-01') - $1::int4`;

/** $1 days that are kept. */
const deleteOld = statement(
  'spending/delete-old',
  `WITH of_upstream AS (${buildDeleteOld('upstream_usage')}), of_owner AS (${buildDeleteOld('owner_usage')})
   ${buildDeleteOld('backfill_usage')}`,
);

/** What was asked of nodes, and for whom. Kept 400 days. */
export function createSpending(connections: Connections) {
  return {
    async add(counts: readonly SpentCount[]): Promise<void> {
      if (counts.length > 0) await connections.query(addSpent, [JSON.stringify(counts)]);
    },
    /** Sums of the days by provider, network, upstream and method. */
    upstreams: (since: number, until: number) =>
      connections.query<SpentFigures & Pick<SpentCount, 'provider' | 'network' | 'upstream' | 'method'>>(
        selectUpstreams,
        [since, until],
      ),
    /** By day and owner. */
    owners: (since: number, until: number) =>
      connections.query<SpentFigures & Pick<SpentCount, 'day' | 'owner'>>(selectOwners, [since, until]),
    /** So far, by the id of the backfill; without a request it is missing. */
    async ofBackfills(ids: readonly number[]): Promise<ReadonlyMap<number, SpentFigures>> {
      const rows = await connections.query<SpentFigures & { id: number }>(selectRanges, [ids]);
      return new Map(rows.map(({ id, ...spent }) => [id, spent]));
    },
    /** Deletes what is older than so many days. */
    forget: async (days: number) => void (await connections.query(deleteOld, [days])),
  };
}
