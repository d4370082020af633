import { type Connections, statement } from '../connection/connections.js';
import type { Spending, SpentFigures } from '../contract/spending.js';

const SUMS = 'sum(requests)::int8, sum(units)::int8, sum(bytes)::int8';
const ADDED =
  'requests = u.requests + excluded.requests, units = u.units + excluded.units, bytes = u.bytes + excluded.bytes';

/**
 * $1 days, $2 networks, $3 upstreams, $4 providers, $5 methods, $6 owners, $7 ranges, $8 requests, $9 units, $10 bytes.
 *
 * One table after the other, each in the order of its key, so that two processes never wait for each other.
 */
const addSpent = statement(
  'spending/add',
  `WITH given AS MATERIALIZED (
     SELECT * FROM unnest($1::int4[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int8[],
         $8::int8[], $9::int8[], $10::int8[])
       AS counts (day, network, upstream, provider, method, owner, range_id, requests, units, bytes)
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
   INSERT INTO packhouse.range_usage AS u (range_id, day, requests, units, bytes)
   SELECT range_id, max(day), ${SUMS} FROM given
   WHERE range_id IS NOT NULL AND (SELECT count(*) FROM of_owner) > 0
   GROUP BY 1 ORDER BY 1
   ON CONFLICT (range_id) DO UPDATE SET day = greatest(u.day, excluded.day), ${ADDED}`,
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

/** $1 range. */
const selectRange = statement(
  'spending/range',
  'SELECT requests, units, bytes FROM packhouse.range_usage WHERE range_id = $1',
);

const deleteOldOf = (table: string): string =>
  `DELETE FROM packhouse.${table} WHERE day < ((now() AT TIME ZONE 'UTC')::date - date '1970-01-01') - $1::int4`;

/** $1 days that are kept. */
const deleteOld = statement(
  'spending/delete-old',
  `WITH of_upstream AS (${deleteOldOf('upstream_usage')}), of_owner AS (${deleteOldOf('owner_usage')})
   ${deleteOldOf('range_usage')}`,
);

/** What was asked of nodes, and for whom. */
export function createSpending(connections: Connections): Spending {
  return {
    add: async (counts) => {
      if (counts.length === 0) return;
      await connections.query(addSpent, [
        counts.map(({ day }) => day),
        counts.map(({ network }) => network),
        counts.map(({ upstream }) => upstream),
        counts.map(({ provider }) => provider),
        counts.map(({ method }) => method),
        counts.map(({ owner }) => owner),
        counts.map(({ range }) => range),
        counts.map(({ requests }) => requests),
        counts.map(({ units }) => units),
        counts.map(({ bytes }) => bytes),
      ]);
    },
    upstreams: (since, until) => connections.query(selectUpstreams, [since, until]),
    owners: (since, until) => connections.query(selectOwners, [since, until]),
    ofRange: async (id) => {
      const [row] = await connections.query<SpentFigures>(selectRange, [id]);
      return row ?? { requests: 0, units: 0, bytes: 0 };
    },
    forget: async (days) => void (await connections.query(deleteOld, [days])),
  };
}
