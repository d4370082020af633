import type { Kind } from '@packhouse/chain';
import { kindsMask } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';

/** What was published of a range of some kinds in the last day. */
interface PaceRequest {
  network: string;
  kinds: readonly Kind[];
  from: number;
  /** null: no end */
  to: number | null;
  /** Nothing that was published before counts; null: the last day. */
  since: Date | null;
}

/** The times are by the clock of Postgres. */
export interface Pace {
  /** Blocks of the kind with the most. */
  blocks: number;
  /** When the first of them was published, to ten minutes; null: there is none. */
  first: Date | null;
  /** When the counted time began: `since`, or a day ago, rounded up to ten minutes. */
  from: Date;
  now: Date;
}

/**
 * $1 the requests as JSON.
 *
 * What was published is kept per chunk and ten minutes (published_pace). Of a chunk that a range has a part of, the
 * bundles are read, if anything of it was published since.
 */
const selectPaces = statement(
  'coverage/select-paces',
  `WITH asked AS MATERIALIZED (
     SELECT w.at, n.id AS network_id, w.kinds, w.first, w.last,
       ceil(extract(epoch FROM greatest(clock_timestamp() - interval '1 day', w.since)) / 600)::int4 AS slot
     FROM jsonb_to_recordset($1::jsonb) AS w (at int4, network text, kinds int4, first int8, last int8, since timestamptz)
       LEFT JOIN packhouse.network AS n ON n.name = w.network
   ), counted AS (
     SELECT a.at, p.slot, coalesce(p.blocks, 0) + coalesce(e.blocks, 0) AS blocks
     FROM asked AS a, generate_series(0, 7) AS k (kind), LATERAL (
       SELECT min(o.slot) AS slot, sum(o.blocks) AS blocks FROM packhouse.published_pace AS o
       WHERE o.network_id = a.network_id AND o.kind = k.kind AND o.slot >= a.slot
         AND o.chunk >= (a.first + 16383) / 16384 AND o.chunk < (a.last + 1) / 16384
     ) AS p, LATERAL (
       SELECT sum(least(b.last_block, c.last) - greatest(b.first_block, c.first) + 1) AS blocks
       FROM (
         SELECT DISTINCT chunk, greatest(a.first, chunk * 16384) AS first, least(a.last, chunk * 16384 + 16383) AS last
         FROM (VALUES (a.first / 16384), (a.last / 16384)) AS ends (chunk)
         WHERE (a.first > chunk * 16384 OR a.last < chunk * 16384 + 16383) AND EXISTS (
           SELECT FROM packhouse.published_pace AS o
           WHERE o.network_id = a.network_id AND o.kind = k.kind AND o.chunk = ends.chunk AND o.slot >= a.slot
         )
       ) AS c, packhouse.bundle AS b
       WHERE b.network_id = a.network_id AND b.kind = k.kind AND b.first_block <= c.last AND b.last_block >= c.first
         AND b.first_block >= coalesce((
           SELECT max(o.first_block) FROM packhouse.bundle AS o
           WHERE o.network_id = a.network_id AND o.kind = k.kind AND o.first_block <= c.first
         ), c.first)
         AND b.version = 1 AND b.published_at >= to_timestamp(a.slot::int8 * 600)
     ) AS e
     WHERE (a.kinds >> k.kind) & 1 = 1
   )
   SELECT a.at, clock_timestamp() AS now, to_timestamp(a.slot::int8 * 600) AS "from",
     coalesce(max(c.blocks), 0)::int8 AS blocks, to_timestamp(min(c.slot)::int8 * 600) AS first
   FROM asked AS a LEFT JOIN counted AS c USING (at)
   GROUP BY a.at, a.slot`,
);

/** Reads how much was published of each of the ranges. */
export async function readPaces(connections: Connections, requests: readonly PaceRequest[]): Promise<Pace[]> {
  const asked = requests.map(({ network, kinds, from, to, since }, at) => {
    return { at, network, kinds: kindsMask(kinds), first: from, last: to ?? Number.MAX_SAFE_INTEGER, since };
  });
  const rows = await connections.query<Pace & { at: number }>(selectPaces, [JSON.stringify(asked)]);
  const found: Pace[] = [];
  for (const { at, ...pace } of rows) found[at] = pace;
  return found;
}
