import { type Connections, statement } from '../connection/connections.js';
import type { Database } from '../contract/database.js';
import type { UnitsUsed, UsageGroup, UsageSum } from '../contract/usage.js';

/** The first date of a day's month; days are numbers since 1970-01-01. */
const monthOf = (day: string): string => `date_trunc('month', date '1970-01-01' + ${day})::date`;
/** Whether a day is of the month that begins with a date: a range, for the index. */
const ofMonth = (day: string, first: string): string =>
  `${day} >= ${first} - date '1970-01-01' AND ${day} < (${first} + interval '1 month')::date - date '1970-01-01'`;

/**
 * $1 key ids, $2 days, $3 networks, $4 methods, $5 requests, $6 units, $7 errors, $8 bytes.
 *
 * The rows of key_usage are locked first, in the order of keys and days, and only then those of method_usage, so that
 * two gateways never wait for each other. Reads see key_usage as it was before; what this statement wrote is in of_day.
 */
const addUsage = statement(
  'usage/add-usage',
  `WITH given AS MATERIALIZED (
     SELECT key_id, day, network, method, sum(requests)::int8 AS requests, sum(units)::int8 AS units,
       sum(errors)::int8 AS errors, sum(bytes)::int8 AS bytes
     FROM unnest($1::int8[], $2::int4[], $3::text[], $4::text[], $5::int8[], $6::int8[], $7::int8[], $8::int8[])
       AS counts (key_id, day, network, method, requests, units, errors, bytes)
     GROUP BY key_id, day, network, method
   ), of_day AS (
     INSERT INTO packhouse.key_usage AS u (key_id, day, requests)
     SELECT key_id, day, sum(units)::int8 FROM given GROUP BY key_id, day ORDER BY key_id, day
     ON CONFLICT (key_id, day) DO UPDATE SET requests = u.requests + excluded.requests
     RETURNING u.key_id, u.day, u.requests
   ), of_method AS (
     INSERT INTO packhouse.method_usage AS u (key_id, day, network, method, requests, units, errors, bytes)
     SELECT g.* FROM given AS g WHERE (SELECT count(*) FROM of_day) > 0
     ORDER BY g.key_id, g.day, g.network, g.method
     ON CONFLICT (key_id, day, network, method) DO UPDATE
     SET requests = u.requests + excluded.requests, units = u.units + excluded.units,
       errors = u.errors + excluded.errors, bytes = u.bytes + excluded.bytes
   ), dated AS (
     SELECT d.*, ${monthOf('d.day')} AS month FROM of_day AS d
   ), before AS (
     SELECT m.key_id, m.month, sum(u.requests) AS requests
     FROM (SELECT DISTINCT key_id, month FROM dated) AS m
     JOIN packhouse.key_usage AS u ON u.key_id = m.key_id AND ${ofMonth('u.day', 'm.month')}
     WHERE NOT EXISTS (SELECT FROM of_day AS d WHERE d.key_id = u.key_id AND d.day = u.day)
     GROUP BY m.key_id, m.month
   )
   SELECT n.key_id, n.day, n.requests AS in_day,
     (sum(n.requests) OVER (PARTITION BY n.key_id, n.month) + coalesce(b.requests, 0))::int8 AS in_month
   FROM dated AS n
   LEFT JOIN before AS b ON b.key_id = n.key_id AND b.month = n.month`,
);

/** $1 key id, $2 day. */
const selectUnits = statement(
  'usage/select-units',
  `SELECT coalesce(sum(u.requests) FILTER (WHERE u.day = $2::int4), 0)::int8 AS in_day,
     coalesce(sum(u.requests), 0)::int8 AS in_month
   FROM packhouse.key_usage AS u
   WHERE u.key_id = $1::int8 AND ${ofMonth('u.day', monthOf('$2::int4'))}`,
);

const FIGURES =
  'sum(u.requests)::int8 AS requests, sum(u.units)::int8 AS units, sum(u.errors)::int8 AS errors, sum(u.bytes)::int8 AS bytes';

/** $1 key ids or null for all, $2 first day, $3 last day. */
const sumsBy = (group: UsageGroup, name: string) =>
  statement(
    `usage/sums-by-${group}`,
    `SELECT ${name} AS name, ${FIGURES}
     FROM packhouse.method_usage AS u
     LEFT JOIN packhouse.api_key AS k ON k.id = u.key_id
     WHERE ($1::int8[] IS NULL OR u.key_id = ANY ($1)) AND u.day BETWEEN $2::int4 AND $3::int4
     GROUP BY 1
     ORDER BY 1`,
  );

const selectSums = {
  key: sumsBy('key', `coalesce(k.prefix, u.key_id::text)`),
  day: sumsBy('day', `to_char(date '1970-01-01' + u.day, 'YYYY-MM-DD')`),
  method: sumsBy('method', 'u.method'),
  network: sumsBy('network', 'u.network'),
};

/** Days since 1970-01-01 in UTC, by the clock of Postgres. */
const TODAY = `((now() AT TIME ZONE 'UTC')::date - date '1970-01-01')`;

const deleteOldOf = (table: string): string =>
  `DELETE FROM packhouse.${table} WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM packhouse.${table} WHERE day < ${TODAY} - $1::int4 LIMIT 20000
   )) RETURNING 1`;

/** $1 days that are kept. Deletes some rows of each table, so that it ends within a gateway's limit for statements. */
const deleteOld = statement(
  'usage/delete-old',
  `WITH of_day AS (${deleteOldOf('key_usage')}), of_method AS (${deleteOldOf('method_usage')})
   SELECT (SELECT count(*) FROM of_day) + (SELECT count(*) FROM of_method) AS rows`,
);

/** What keys used. */
export function createUsage(connections: Connections): Database['usage'] {
  return {
    add: async (counts) => {
      const rows = await connections.query<StoredUnits & { key_id: number; day: number }>(addUsage, [
        counts.map(({ keyId }) => keyId),
        counts.map(({ day }) => day),
        counts.map(({ network }) => network),
        counts.map(({ method }) => method),
        counts.map(({ requests }) => requests),
        counts.map(({ units }) => units),
        counts.map(({ errors }) => errors),
        counts.map(({ bytes }) => bytes),
      ]);
      return rows.map((row) => unitsOf(row.key_id, row.day, row));
    },
    units: async (keyId, day) => {
      const [row] = await connections.query<StoredUnits>(selectUnits, [keyId, day]);
      return unitsOf(keyId, day, row as StoredUnits);
    },
    sums: ({ keyIds, since, until, by }) =>
      connections.query<UsageSum>(selectSums[by], [keyIds ?? null, since, until]),
    forget: async (days) => {
      for (let deleted = 1; deleted > 0; ) {
        const [row] = await connections.query<{ rows: number }>(deleteOld, [days]);
        deleted = row?.rows ?? 0;
      }
    },
  };
}

interface StoredUnits {
  in_day: number;
  in_month: number;
}

function unitsOf(keyId: number, day: number, row: StoredUnits): UnitsUsed {
  return { keyId, day, inDay: row.in_day, inMonth: row.in_month };
}
