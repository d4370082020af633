import type { BlockRange, Kind } from '@packhouse/chain';
import { getKind, kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { NetworkRef } from '../tables/networks/networks.js';
import { readColumns } from './columns.js';
import { type HoleReason, hintValues, type QueueHints, WITH_REASONS } from './hole-reasons-sql.js';
import { cutPage, type HoleRow, selectHoles } from './holes-page.js';
import { readStanding } from './standing.js';

/** Blocks of one kind by state. */
export interface HoleCounts {
  kind: Kind;
  published: number;
  /** Only reasons that occur; their sum plus `published` is the number of blocks of the range. */
  missing: Partial<Record<HoleReason, number>>;
}

type HolesRequest = {
  kinds: readonly Kind[];
  range: BlockRange;
};

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
      SELECT coalesce(sum(least(o.last_block + 1, e.past) - greatest(o.first_block, e.first)), 0) AS blocks
      FROM (VALUES
        (h.first, CASE WHEN h.chunk < h.past_chunk THEN h.chunk * 16384 ELSE h.past END),
        (CASE WHEN h.chunk < h.past_chunk THEN h.past_chunk * 16384 ELSE h.past END, h.past)
      ) AS e (first, past), packhouse.published_run AS o
      WHERE o.network_id = $1 AND o.kind = h.kind AND o.first_block < e.past AND o.last_block >= e.first
        AND o.first_block >= coalesce((
          SELECT max(b.first_block) FROM packhouse.published_run AS b
          WHERE b.network_id = $1 AND b.kind = h.kind AND b.first_block <= e.first
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

/** $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 limit: a row if more requested runs begin there. */
const selectScattered = statement(
  'coverage/select-scattered',
  `SELECT FROM packhouse.requested_run
   WHERE network_id = $1 AND kind = ANY ($2::int2[]) AND first_block BETWEEN $3 AND $4
   OFFSET $5 LIMIT 1`,
);

/** $1 network id, $2 kind, $3 block: the last published run or staged fragment before it and the first after it. */
const selectAround = statement(
  'coverage/select-around',
  `SELECT * FROM (
     (SELECT 'below' AS side, first_block AS "firstBlock", last_block AS "lastBlock" FROM packhouse.published_run
      WHERE network_id = $1 AND kind = $2 AND first_block < $3 ORDER BY first_block DESC LIMIT 1)
     UNION ALL
     (SELECT 'below', first_block, last_block FROM packhouse.fragment
      WHERE network_id = $1 AND kind = $2 AND first_block < $3 ORDER BY first_block DESC LIMIT 1)
     UNION ALL
     (SELECT 'above', first_block, last_block FROM packhouse.published_run
      WHERE network_id = $1 AND kind = $2 AND first_block > $3 ORDER BY first_block LIMIT 1)
     UNION ALL
     (SELECT 'above', first_block, last_block FROM packhouse.fragment
      WHERE network_id = $1 AND kind = $2 AND first_block > $3 ORDER BY first_block LIMIT 1)
   ) AS near`,
);

/** Reads the blocks that are not published, and why. A network that was never registered is one hole. */
export function createHoles(connections: Connections, network: NetworkRef) {
  const place = async ({ kinds, range }: HolesRequest): Promise<unknown[]> => [
    await network.find(),
    kinds.map(kindCode),
    range.firstBlock,
    range.lastBlock,
  ];
  return {
    /**
     * Published ranges and holes of the kinds within the range, from its start on: at most `limit` holes per kind, and
     * at least one block. Its cost grows with the page, not with the number of bundles.
     */
    async page(request: HolesRequest & { limit: number; hints?: QueueHints | undefined }) {
      const values = [...(await place(request)), request.limit, ...hintValues(request.hints)];
      return cutPage(await connections.query<HoleRow>(selectHoles, values), request);
    },
    /** Counts the blocks of the range by state, one row for each requested kind. The cost grows with all holes. */
    async count(request: HolesRequest & { hints?: QueueHints | undefined }): Promise<HoleCounts[]> {
      const { kinds, range, hints } = request;
      if (range.lastBlock < range.firstBlock)
        return kinds.map((kind) => ({ kind, published: 0, missing: {} }));
      const values = [...(await place(request)), 0, ...hintValues(hints)];
      const rows = await connections.query<CountRow>(countHoles, values);
      return kinds.map((kind) => getCounts(kind, rows));
    },
    /** What is missing, and why, by columns (see readColumns). */
    columns: (request: Parameters<typeof readColumns>[2]) => readColumns(connections, network, request),
    /** Whether more than `limit` separate ranges of these kinds are requested, or were, within the range. */
    isScattered: async (request: HolesRequest & { limit: number }) =>
      (await connections.queryOne(selectScattered, [...(await place(request)), request.limit])) !== null,
    /** The nearest ranges of published or staged blocks below and above a block that is neither. */
    async around(kind: Kind, block: number): Promise<{ below: BlockRange | null; above: BlockRange | null }> {
      const values = [await network.find(), kindCode(kind), block];
      const rows = await connections.query<BlockRange & { side: string }>(selectAround, values);
      const side = (name: string): BlockRange[] =>
        rows.filter((row) => row.side === name).map(({ side: _, ...range }) => range);
      return {
        below: side('below').sort((a, b) => b.lastBlock - a.lastBlock)[0] ?? null,
        above: side('above').sort((a, b) => a.firstBlock - b.firstBlock)[0] ?? null,
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

function getCounts(kind: Kind, rows: readonly CountRow[]): HoleCounts {
  const counts: HoleCounts = { kind, published: 0, missing: {} };
  for (const { kind: code, reason, blocks } of rows) {
    if (getKind(code) !== kind || blocks === 0) continue;
    if (reason === null) counts.published = blocks;
    else counts.missing[reason] = blocks;
  }
  return counts;
}
