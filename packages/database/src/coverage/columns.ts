import type { BlockRange, Kind } from '@packhouse/chain';
import { kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { Columns, ColumnsRequest, HoleReason } from '../contract/holes.js';
import type { NetworkRef } from '../tables/networks.js';
import { hintValues, WITH_REASONS } from './hole-reasons-sql.js';

/** Blocks of a chunk, as the triggers of packhouse.published_chunk count them. */
const CHUNK_BLOCKS = 16_384;
/** Published runs of a kind that are read for columns narrower than a chunk, at most. */
const MAX_RUNS = 20_000;

/** $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 limit: a row if more runs of a kind begin there. */
const selectDense = statement(
  'coverage/select-dense',
  `SELECT FROM unnest($2::int2[]) AS k (kind), LATERAL (
     SELECT FROM packhouse.published_run
     WHERE network_id = $1 AND kind = k.kind AND start_block BETWEEN $3 AND $4
     OFFSET $5 LIMIT 1
   ) AS r
   LIMIT 1`,
);

/**
 * $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 blocks of a column, $6 to $10 hints (see
 * WITH_REASONS): a row for each column of a kind in which something is not published. Column n is of the blocks from
 * n * $5 on, within $3..$4.
 *
 * What is published is counted as in count-holes: whole chunks as they were counted when published, if a column is no
 * narrower; the rest by its runs. In a column that is partly published and has several reasons, each part with one reason
 * is looked at. It has no hole if one run covers it, for runs never touch: one row of the index tells, however many
 * bundles there are.
 */
const selectColumns = statement(
  'coverage/select-columns',
  `WITH asked AS MATERIALIZED (
    SELECT k.kind, $3::int8 AS first, $4::int8 AS last, $5::int8 AS width FROM unnest($2::int4[]) AS k (kind)
  ),
  ${WITH_REASONS},
  chunks AS MATERIALIZED (
    SELECT ($3 + 16383) / 16384 AS first, CASE WHEN $5 < 16384 THEN 0 ELSE ($4 + 1) / 16384 END AS past
  ),
  edge AS MATERIALIZED (
    SELECT a.kind, e.first, e.past, coalesce((
      SELECT max(b.start_block) FROM packhouse.published_run AS b
      WHERE b.network_id = $1 AND b.kind = a.kind AND b.start_block <= e.first
    ), e.first) AS low
    FROM asked AS a, chunks AS c, LATERAL (VALUES
      ($3, CASE WHEN c.first < c.past THEN c.first * 16384 ELSE $4 + 1 END),
      (CASE WHEN c.first < c.past THEN c.past * 16384 ELSE $4 + 1 END, $4 + 1)
    ) AS e (first, past)
    WHERE e.first < e.past
  ),
  published AS MATERIALIZED (
    SELECT kind, n, sum(blocks)::int8 AS blocks
    FROM (
      SELECT o.kind, o.chunk * 16384 / $5 AS n, o.blocks
      FROM chunks AS c, packhouse.published_chunk AS o
      WHERE o.network_id = $1 AND o.kind = ANY ($2::int4[]) AND o.chunk >= c.first AND o.chunk < c.past
      UNION ALL
      SELECT e.kind, n, least(r.past, (n + 1) * $5) - greatest(r.first, n * $5)
      FROM edge AS e, LATERAL (
        -- OFFSET 0: or all runs of the network are read and joined.
        SELECT greatest(r.start_block, e.first) AS first, least(r.end_block + 1, e.past) AS past
        FROM packhouse.published_run AS r
        WHERE r.network_id = $1 AND r.kind = e.kind AND r.start_block >= e.low AND r.start_block < e.past
          AND r.end_block >= e.first
        OFFSET 0
      ) AS r, generate_series(r.first / $5, (r.past - 1) / $5) AS n
    ) AS p
    GROUP BY kind, n
  ),
  piece AS MATERIALIZED (
    SELECT r.kind, n, r.reason, array_agg(greatest(lower(h), n * $5)) AS firsts,
      array_agg(least(upper(h), (n + 1) * $5) - 1) AS lasts
    FROM reason AS r, unnest(r.ranges) AS h, generate_series(lower(h) / $5, (upper(h) - 1) / $5) AS n
    GROUP BY r.kind, n, r.reason
  )
  SELECT p.kind, p.n, s.blocks - coalesce(o.blocks, 0) AS missing, array_agg(p.reason) AS reasons
  FROM (SELECT *, count(*) OVER (PARTITION BY kind, n) AS of FROM piece) AS p LEFT JOIN published AS o USING (kind, n),
    LATERAL (SELECT least($4 + 1, (p.n + 1) * $5) - greatest($3, p.n * $5) AS blocks) AS s
  WHERE o.blocks IS NULL OR (o.blocks < s.blocks AND (p.of = 1 OR EXISTS (
    SELECT FROM unnest(p.firsts, p.lasts) AS h (first, last)
    WHERE h.last > coalesce((
      SELECT r.end_block FROM packhouse.published_run AS r
      WHERE r.network_id = $1 AND r.kind = p.kind AND r.start_block <= h.first
      ORDER BY r.start_block DESC LIMIT 1
    ), -1)
  )))
  GROUP BY p.kind, p.n, missing`,
);

interface Row {
  kind: number;
  n: number;
  missing: number;
  reasons: HoleReason[];
}

/** Reads what is missing by columns (see Holes.columns). */
export async function readColumns(
  connections: Connections,
  network: NetworkRef,
  { kinds, range, columns, hints }: ColumnsRequest,
): Promise<Columns> {
  const id = await network.find();
  const codes = kinds.map(kindCode);
  let width = widthFor(range, columns);
  if (width < CHUNK_BLOCKS) {
    const dense = await connections.query(selectDense, [id, codes, range.start, range.end, MAX_RUNS]);
    if (dense.length > 0) width = CHUNK_BLOCKS;
  }
  const rows = await connections.query<Row>(selectColumns, [
    ...[id, codes, range.start, range.end, width],
    ...hintValues(hints),
  ]);
  return { width, kinds: kinds.map((kind) => ({ kind, columns: columnsOf(kind, rows, range, width) })) };
}

/** The smallest power of two with which columns that begin at its multiples are no more than that many. */
function widthFor({ start, end }: BlockRange, columns: number): number {
  let width = 1;
  while (Math.floor(end / width) - Math.floor(start / width) >= columns) width *= 2;
  return width;
}

function columnsOf(
  kind: Kind,
  rows: readonly Row[],
  { start, end }: BlockRange,
  width: number,
): Columns['kinds'][number]['columns'] {
  const first = Math.floor(start / width);
  const columns = Array.from({ length: Math.floor(end / width) - first + 1 }, () => ({
    missing: 0,
    reasons: [] as HoleReason[],
  }));
  for (const { kind: code, n, missing, reasons } of rows) {
    if (code === kindCode(kind)) columns[n - first] = { missing, reasons };
  }
  return columns;
}
