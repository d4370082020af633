import type { BlockRange, Kind } from '@packhouse/chain';
import { kindCode } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { NetworkRef } from '../tables/networks/networks.js';
import type { HoleReason, QueueHints } from './hole-reasons.js';
import { hintsJson, withReasons } from './hole-reasons-sql.js';

/** What is asked of a view of coverage by columns. */
type ColumnsRequest = {
  kinds: readonly Kind[];
  range: BlockRange;
  /** Columns of a kind, at most. */
  columns: number;
  hints?: QueueHints | undefined;
};

/** A range in columns of the same width: column n is of the blocks from n * width on, as far as the range has them. */
export interface Columns {
  /** Blocks of a column: a power of two. */
  width: number;
  kinds: {
    kind: Kind;
    /** All columns of the range, ascending: blocks that are not published, and all reasons why. */
    columns: { missing: number; reasons: HoleReason[] }[];
  }[];
}

/** Blocks of a chunk, as the triggers of packhouse.published_chunk count them. */
const CHUNK_BLOCKS = 16_384;
/** Published runs of a kind that are read for columns narrower than a chunk, at most. */
const MAX_RUNS = 20_000;

/** $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 limit: a row if more runs of a kind begin there. */
const selectDense = statement(
  'coverage/select-dense',
  `SELECT FROM unnest($2::int2[]) AS k (kind), LATERAL (
     SELECT FROM packhouse.published_run
     WHERE network_id = $1 AND kind = k.kind AND first_block BETWEEN $3 AND $4
     OFFSET $5 LIMIT 1
   ) AS r
   LIMIT 1`,
);

/**
 * $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 blocks of a column, $6 hints (see
 * withReasons): a row for each column of a kind in which something is not published. Column n is of the blocks from
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
    SELECT $1::int4 AS network_id, k.kind, $3::int8 AS first, $4::int8 AS last, $5::int8 AS width
    FROM unnest($2::int4[]) AS k (kind)
  ),
  ${withReasons('$6')},
  chunks AS MATERIALIZED (
    SELECT ($3 + 16383) / 16384 AS first, CASE WHEN $5 < 16384 THEN 0 ELSE ($4 + 1) / 16384 END AS past
  ),
  edge AS MATERIALIZED (
    SELECT a.kind, e.first, e.past, coalesce((
      SELECT max(b.first_block) FROM packhouse.published_run AS b
      WHERE b.network_id = $1 AND b.kind = a.kind AND b.first_block <= e.first
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
        SELECT greatest(r.first_block, e.first) AS first, least(r.last_block + 1, e.past) AS past
        FROM packhouse.published_run AS r
        WHERE r.network_id = $1 AND r.kind = e.kind AND r.first_block >= e.low AND r.first_block < e.past
          AND r.last_block >= e.first
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
      SELECT r.last_block FROM packhouse.published_run AS r
      WHERE r.network_id = $1 AND r.kind = p.kind AND r.first_block <= h.first
      ORDER BY r.first_block DESC LIMIT 1
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

/**
 * Reads of each column of the range what is missing and why, exactly. The cost grows with the columns and with what is
 * requested, staged and quarantined, not with what is published: where published runs are too many to be read, columns
 * are as wide as the chunks that are counted when bundles are published, and fewer.
 */
export async function readColumns(
  connections: Connections,
  network: NetworkRef,
  { kinds, range, columns, hints }: ColumnsRequest,
): Promise<Columns> {
  const place = [await network.find(), kinds.map(kindCode), range.firstBlock, range.lastBlock];
  let width = widthFor(range, columns);
  if (width < CHUNK_BLOCKS) {
    const dense = await connections.queryOne(selectDense, [...place, MAX_RUNS]);
    if (dense !== null) width = CHUNK_BLOCKS;
  }
  const known = hintsJson(new Map(hints === undefined ? [] : [[network.name, hints]]));
  const rows = await connections.query<Row>(selectColumns, [...place, width, known]);
  return { width, kinds: kinds.map((kind) => ({ kind, columns: toColumns(kind, rows, range, width) })) };
}

/** The smallest power of two with which columns that begin at its multiples are no more than that many. */
function widthFor({ firstBlock, lastBlock }: BlockRange, columns: number): number {
  let width = 1;
  while (Math.floor(lastBlock / width) - Math.floor(firstBlock / width) >= columns) width *= 2;
  return width;
}

function toColumns(
  kind: Kind,
  rows: readonly Row[],
  { firstBlock, lastBlock }: BlockRange,
  width: number,
): Columns['kinds'][number]['columns'] {
  const first = Math.floor(firstBlock / width);
  const columns = Array.from({ length: Math.floor(lastBlock / width) - first + 1 }, () => ({
    missing: 0,
    reasons: [] as HoleReason[],
  }));
  for (const { kind: code, n, missing, reasons } of rows) {
    if (code === kindCode(kind)) columns[n - first] = { missing, reasons };
  }
  return columns;
}
