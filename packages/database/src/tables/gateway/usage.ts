import { type Connections, statement } from '../../connection/connections.js';

interface UsageFigures {
  requests: number;
  /** What they cost; refused ones cost nothing. */
  units: number;
  /** Requests that were refused or failed. */
  errors: number;
  /** Bytes of bodies sent. */
  bytes: number;
}

/** What a key used of one method on one day. */
export interface UsageCount extends UsageFigures {
  keyId: number;
  /** Days since 1970-01-01 in UTC. */
  day: number;
  network: string;
  /** A JSON-RPC method, `other`, `batch`, or a route. */
  method: string;
}

/** The units of one key. */
export interface UnitsUsed {
  keyId: number;
  day: number;
  inDay: number;
  /** In the calendar month of the day. */
  inMonth: number;
}

/** What sums are made by. */
export const USAGE_GROUPS = ['key', 'day', 'method', 'network'] as const;

export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** A sum over all rows of one name. */
export interface UsageSum extends UsageFigures {
  /** By its group: a key's prefix, a day as `2026-11-22`, a method, or a network. */
  name: string;
  /** Of a key; null: the key is not known any more. */
  application?: string | null;
}

/** The routes under which gateways count downloads: of bundles, and of files of the lake. */
const DOWNLOADS = `('download', 'lake-file')`;

/** The first date of a day's month; days are numbers since 1970-01-01. */
const getMonth = (day: string): string => `date_trunc('month', date '1970-01-01' + ${day})::date`;
/** Whether a day is of the month that begins with a date: a range, for the index. */
const ofMonth = (day: string, first: string): string =>
  `${day} >= ${first} - date '1970-01-01' AND ${day} < (${first} + interval '1 month')::date - date '1970-01-01'`;

/**
 * $1 counts, as JSON.
 *
 * The rows of key_usage are locked first, in the order of keys and days, and only then those of method_usage, so that
 * two gateways never wait for each other. Reads see key_usage as it was before; what this statement wrote is in of_day.
 */
const addUsage = statement(
  'usage/add-usage',
  `WITH given AS MATERIALIZED (
     SELECT "keyId" AS key_id, day, network, method, sum(requests)::int8 AS requests, sum(units)::int8 AS units,
       sum(errors)::int8 AS errors, sum(bytes)::int8 AS bytes
     FROM jsonb_to_recordset($1::jsonb) AS counts ("keyId" int8, day int4, network text, method text, requests int8,
       units int8, errors int8, bytes int8)
     GROUP BY "keyId", day, network, method
   ), of_day AS (
     INSERT INTO packhouse.key_usage AS u (key_id, day, requests, calls, downloads, errors, bytes)
     SELECT key_id, day, sum(units)::int8, coalesce(sum(requests) FILTER (WHERE method NOT IN ${DOWNLOADS}), 0)::int8,
       coalesce(sum(requests) FILTER (WHERE method IN ${DOWNLOADS}), 0)::int8, sum(errors)::int8, sum(bytes)::int8
     FROM given GROUP BY key_id, day ORDER BY key_id, day
     ON CONFLICT (key_id, day) DO UPDATE
     SET requests = u.requests + excluded.requests, calls = u.calls + excluded.calls,
       downloads = u.downloads + excluded.downloads, errors = u.errors + excluded.errors, bytes = u.bytes + excluded.bytes,
       last_at = excluded.last_at
     RETURNING u.key_id, u.day, u.requests
   ), of_method AS (
     INSERT INTO packhouse.method_usage AS u (key_id, day, network, method, requests, units, errors, bytes)
     SELECT g.* FROM given AS g WHERE (SELECT count(*) FROM of_day) > 0
     ORDER BY g.key_id, g.day, g.network, g.method
     ON CONFLICT (key_id, day, network, method) DO UPDATE
     SET requests = u.requests + excluded.requests, units = u.units + excluded.units,
       errors = u.errors + excluded.errors, bytes = u.bytes + excluded.bytes
   ), dated AS (
     SELECT d.*, ${getMonth('d.day')} AS month FROM of_day AS d
   ), before AS (
     SELECT m.key_id, m.month, sum(u.requests) AS requests
     FROM (SELECT DISTINCT key_id, month FROM dated) AS m
     JOIN packhouse.key_usage AS u ON u.key_id = m.key_id AND ${ofMonth('u.day', 'm.month')}
     WHERE NOT EXISTS (SELECT FROM of_day AS d WHERE d.key_id = u.key_id AND d.day = u.day)
     GROUP BY m.key_id, m.month
   )
   SELECT n.key_id AS "keyId", n.day, n.requests AS "inDay",
     (sum(n.requests) OVER (PARTITION BY n.key_id, n.month) + coalesce(b.requests, 0))::int8 AS "inMonth"
   FROM dated AS n
   LEFT JOIN before AS b ON b.key_id = n.key_id AND b.month = n.month`,
);

/** $1 key id, $2 day. */
const selectUnits = statement(
  'usage/select-units',
  `SELECT $1::int8 AS "keyId", $2::int4 AS day,
     coalesce(sum(u.requests) FILTER (WHERE u.day = $2::int4), 0)::int8 AS "inDay",
     coalesce(sum(u.requests), 0)::int8 AS "inMonth"
   FROM packhouse.key_usage AS u
   WHERE u.key_id = $1::int8 AND ${ofMonth('u.day', getMonth('$2::int4'))}`,
);

const FIGURES =
  'sum(u.requests)::int8 AS requests, sum(u.units)::int8 AS units, sum(u.errors)::int8 AS errors, sum(u.bytes)::int8 AS bytes';

/**
 * Rows of keys: a join, as `key_id = ANY ($1)` compares each row with each of thousands of keys once its plan is generic.
 * $3 key ids.
 */
const OF_KEYS = `unnest($3::int8[]) AS given (id) JOIN packhouse.method_usage AS u ON u.key_id = given.id`;
const OF_ALL = 'packhouse.method_usage AS u';

const NAMES: Readonly<Record<UsageGroup, string>> = {
  key: `coalesce(k.prefix, u.key_id::text) AS name, max(a.name) AS application`,
  day: `to_char(date '1970-01-01' + u.day, 'YYYY-MM-DD') AS name`,
  method: 'u.method AS name',
  network: 'u.network AS name',
};
const NAMED_KEYS = `LEFT JOIN packhouse.api_key AS k ON k.id = u.key_id
     LEFT JOIN packhouse.application AS a ON a.id = k.application_id`;

/** $1 first day, $2 last day. */
const sumsBy = (group: UsageGroup, of: 'all' | 'keys') =>
  statement(
    `usage/sums-of-${of}-by-${group}`,
    `SELECT ${NAMES[group]}, ${FIGURES}
     FROM ${of === 'all' ? OF_ALL : OF_KEYS} ${group === 'key' ? NAMED_KEYS : ''}
     WHERE u.day BETWEEN $1::int4 AND $2::int4
     GROUP BY 1
     ORDER BY 1`,
  );

const sumsOf = (of: 'all' | 'keys') => ({
  key: sumsBy('key', of),
  day: sumsBy('day', of),
  method: sumsBy('method', of),
  network: sumsBy('network', of),
});
const selectSums = { all: sumsOf('all'), keys: sumsOf('keys') };

/** What the days of keys are split by. */
export const USAGE_PARTS = ['method', 'network'] as const;

/** A sum over one day of some keys: `name` is a method or a network. */
export interface UsagePart {
  /** Days since 1970-01-01 in UTC. */
  day: number;
  name: string;
  units: number;
}

/** $1 first day, $2 last day, $3 key ids: of each a range of the primary key, as wide as its methods and networks. */
const partsBy = (part: (typeof USAGE_PARTS)[number]) =>
  statement(
    `usage/parts-by-${part}`,
    `SELECT u.day, u.${part} AS name, sum(u.units)::int8 AS units
     FROM ${OF_KEYS}
     WHERE u.day BETWEEN $1::int4 AND $2::int4
     GROUP BY 1, 2
     ORDER BY 1, 2`,
  );

const selectParts = { method: partsBy('method'), network: partsBy('network') };

/** Days since 1970-01-01 in UTC, by the clock of Postgres. */
const TODAY = `((now() AT TIME ZONE 'UTC')::date - date '1970-01-01')`;

const buildDeleteOld = (table: string): string =>
  `DELETE FROM packhouse.${table} WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM packhouse.${table} WHERE day < ${TODAY} - $1::int4 LIMIT 20000
   )) RETURNING 1`;

/** $1 days that are kept. Deletes some rows of each table, so that it ends within a gateway's limit for statements. */
const deleteOld = statement(
  'usage/delete-old',
  `WITH of_day AS (${buildDeleteOld('key_usage')}), of_method AS (${buildDeleteOld('method_usage')})
   SELECT (SELECT count(*) FROM of_day) + (SELECT count(*) FROM of_method) AS rows`,
);

/** What keys used. Days are days since 1970-01-01 in UTC. */
export function createUsage(connections: Connections) {
  return {
    /**
     * Adds counts in one statement. Returns the units of each of these keys on each of these days so far, and in the
     * calendar month (UTC) of that day.
     */
    add: (counts: readonly UsageCount[]) => connections.query<UnitsUsed>(addUsage, [JSON.stringify(counts)]),
    /** Units of a key on a day, and in its calendar month. */
    units: async (keyId: number, day: number) =>
      (await connections.queryOne<UnitsUsed>(selectUnits, [keyId, day]))!,
    /** Sums of these keys (default: all) from day `since` to day `until`, ascending by name. */
    sums({
      keyIds,
      since,
      until,
      by,
    }: {
      keyIds?: readonly number[];
      since: number;
      until: number;
      by: UsageGroup;
    }) {
      return keyIds === undefined
        ? connections.query<UsageSum>(selectSums.all[by], [since, until])
        : connections.query<UsageSum>(selectSums.keys[by], [since, until, keyIds]);
    },
    /** The units of keys by day and method or network, ascending. */
    parts: ({
      keyIds,
      since,
      until,
      of,
    }: {
      keyIds: readonly number[];
      since: number;
      until: number;
      of: 'method' | 'network';
    }) => connections.query<UsagePart>(selectParts[of], [since, until, keyIds]),
    /** Deletes what is older than `days`, by the database's clock. */
    async forget(days: number): Promise<void> {
      for (let deleted = 1; deleted > 0; ) {
        deleted = (await connections.queryOne<{ rows: number }>(deleteOld, [days]))?.rows ?? 0;
      }
    },
  };
}
