import type { BlockRange, Kind } from '@packhouse/chain';
import { kindCode, kindOf } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { HoleCounts, HoleReason, Holes } from '../contract/holes.js';
import type { NetworkRef } from '../tables/networks.js';
import { readColumns } from './columns.js';
import { hintValues, WITH_REASONS } from './hole-reasons-sql.js';
import { cutPage, type HoleRow, selectHoles } from './holes-page.js';
import { readStanding } from './standing.js';

/**
 * $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 unused (so that the hints have
 * the same numbers as in select-holes), $6 to $10 hints (see WITH_REASONS): blocks by kind and reason; null is published.
 *
 * Published blocks are counted within each range of a reason and subtracted: of whole chunks as they were counted when
 * published, of what is left at both ends by its runs. Rejected: a difference of multiranges, which takes 100 ms each at
 * 300,000 runs, and reading every run, 3 s for five kinds of 285,714.
 */
const countHoles = statement(
  'coverage/count-holes',
  `WITH asked AS MATERIALIZED (
    SELECT k.kind, $3::int8 AS first, $4::int8 AS last, $5::int4 AS unused
    FROM unnest($2::int4[]) AS k (kind)
  ),
  ${WITH_REASONS},
  part_of AS MATERIALIZED (
    SELECT r.kind, r.reason, lower(h) AS first, upper(h) AS past,
      (lower(h) + 16383) / 16384 AS chunk, upper(h) / 16384 AS past_chunk
    FROM reason AS r, unnest(r.ranges) AS h
  ),
  counted AS MATERIALIZED (
    SELECT h.kind, h.reason, h.past - h.first AS blocks, p.blocks + c.blocks AS published
    FROM part_of AS h, LATERAL (
      SELECT coalesce(sum(least(o.end_block + 1, e.past) - greatest(o.start_block, e.first)), 0) AS blocks
      FROM (VALUES
        (h.first, CASE WHEN h.chunk < h.past_chunk THEN h.chunk * 16384 ELSE h.past END),
        (CASE WHEN h.chunk < h.past_chunk THEN h.past_chunk * 16384 ELSE h.past END, h.past)
      ) AS e (first, past), packhouse.published_run AS o
      WHERE o.network_id = $1 AND o.kind = h.kind AND o.start_block < e.past AND o.end_block >= e.first
        AND o.start_block >= coalesce((
          SELECT max(b.start_block) FROM packhouse.published_run AS b
          WHERE b.network_id = $1 AND b.kind = h.kind AND b.start_block <= e.first
        ), e.first)
    ) AS p, LATERAL (
      SELECT coalesce(sum(o.blocks), 0) AS blocks
      FROM packhouse.published_chunk AS o
      WHERE o.network_id = $1 AND o.kind = h.kind AND o.chunk >= h.chunk AND o.chunk < h.past_chunk
    ) AS c
  )
  SELECT kind, reason, sum(blocks - published)::int8 AS blocks FROM counted GROUP BY kind, reason
  UNION ALL
  SELECT kind, NULL, sum(published)::int8 FROM counted GROUP BY kind`,
);

/** $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 limit: a row if more wanted runs begin there. */
const selectScattered = statement(
  'coverage/select-scattered',
  `SELECT FROM packhouse.wanted_run
   WHERE network_id = $1 AND kind = ANY ($2::int2[]) AND start_block BETWEEN $3 AND $4
   OFFSET $5 LIMIT 1`,
);

/** $1 network id, $2 kind, $3 block: the last published run or staged fragment before it and the first after it. */
const selectAround = statement(
  'coverage/select-around',
  `SELECT * FROM (
     (SELECT 'below' AS side, start_block AS start, end_block AS "end" FROM packhouse.published_run
      WHERE network_id = $1 AND kind = $2 AND start_block < $3 ORDER BY start_block DESC LIMIT 1)
     UNION ALL
     (SELECT 'below', block, end_block FROM packhouse.fragment
      WHERE network_id = $1 AND kind = $2 AND block < $3 ORDER BY block DESC LIMIT 1)
     UNION ALL
     (SELECT 'above', start_block, end_block FROM packhouse.published_run
      WHERE network_id = $1 AND kind = $2 AND start_block > $3 ORDER BY start_block LIMIT 1)
     UNION ALL
     (SELECT 'above', block, end_block FROM packhouse.fragment
      WHERE network_id = $1 AND kind = $2 AND block > $3 ORDER BY block LIMIT 1)
   ) AS near`,
);

/** Reads holes and their reasons. A network that was never registered is one hole. */
export function createHoles(connections: Connections, network: NetworkRef): Holes {
  return {
    page: async ({ kinds, range, limit, hints }) => {
      const rows = await connections.query<HoleRow>(selectHoles, [
        ...[await network.find(), kinds.map(kindCode), range.start, range.end, limit],
        ...hintValues(hints),
      ]);
      return cutPage(rows, { kinds, range, limit });
    },
    count: async ({ kinds, range, hints }) => {
      if (range.end < range.start) return kinds.map((kind) => ({ kind, published: 0, missing: {} }));
      const rows = await connections.query<CountRow>(countHoles, [
        ...[await network.find(), kinds.map(kindCode), range.start, range.end, 0],
        ...hintValues(hints),
      ]);
      return kinds.map((kind) => countsOf(kind, rows));
    },
    columns: (request) => readColumns(connections, network, request),
    isScattered: async ({ kinds, range, limit }) => {
      const values = [await network.find(), kinds.map(kindCode), range.start, range.end, limit];
      return (await connections.query(selectScattered, values)).length > 0;
    },
    around: async (kind, block) => {
      const rows = await connections.query<BlockRange & { side: 'below' | 'above' }>(selectAround, [
        await network.find(),
        kindCode(kind),
        block,
      ]);
      const side = (name: 'below' | 'above'): BlockRange[] => rows.filter((row) => row.side === name);
      return {
        below: nearest(side('below').sort((a, b) => b.end - a.end)),
        above: nearest(side('above').sort((a, b) => a.start - b.start)),
      };
    },
    standing: async () => readStanding(connections, await network.find()),
  };
}

interface CountRow {
  kind: number;
  reason: HoleReason | null;
  blocks: number;
}

function countsOf(kind: Kind, rows: readonly CountRow[]): HoleCounts {
  const counts: HoleCounts = { kind, published: 0, missing: {} };
  for (const { kind: code, reason, blocks } of rows) {
    if (kindOf(code) !== kind || blocks === 0) continue;
    if (reason === null) counts.published = blocks;
    else counts.missing[reason] = blocks;
  }
  return counts;
}

function nearest([range]: readonly BlockRange[]): BlockRange | null {
  return range === undefined ? null : { start: range.start, end: range.end };
}
