import type { BlockRange, Kind } from '@packhouse/chain';
import { getKind, kindsMask } from '../connection/codes.js';
import { type Connections, statement } from '../connection/connections.js';
import type { HoleReason, QueueHints } from './hole-reasons.js';
import { hintsJson, withReasons } from './hole-reasons-sql.js';

/** Blocks of one kind by state. */
export interface HoleCounts {
  kind: Kind;
  published: number;
  /** Only reasons that occur; their sum plus `published` is the number of blocks of the range. */
  missing: Partial<Record<HoleReason, number>>;
}

/** What is counted: a range of some kinds. */
interface CountRequest {
  network: string;
  kinds: readonly Kind[];
  range: BlockRange;
}

/**
 * $1 the requests as JSON, $2 hints (see withReasons): blocks by request, kind and reason; null is published.
 *
 * Reasons are found once for each network and kind, however many requests there are, over all blocks from the first to
 * the last that is asked for.
 *
 * Published blocks are counted within each range of a reason and subtracted: of whole chunks as they were counted when
 * published, of what is left at both ends by its runs. Rejected: a difference of multiranges, which takes 100 ms each at
 * 300,000 runs, and reading every run, 3 s for five kinds of 285,714.
 */
const selectCounts = statement(
  'coverage/count-holes',
  `WITH want AS MATERIALIZED (
    SELECT w.at, coalesce(n.id, 0)::int4 AS network_id, w.kinds, w.first, w.last
    FROM jsonb_to_recordset($1::jsonb) AS w (at int4, network text, kinds int4, first int8, last int8)
      LEFT JOIN packhouse.network AS n ON n.name = w.network
  ),
  asked AS MATERIALIZED (
    SELECT w.network_id, k.kind, min(w.first) AS first, max(w.last) AS last
    FROM want AS w, generate_series(0, 7) AS k (kind)
    WHERE (w.kinds >> k.kind) & 1 = 1
    GROUP BY w.network_id, k.kind
  ),
  ${withReasons('$2')},
  part_of AS MATERIALIZED (
    SELECT w.at, r.network_id, r.kind, r.reason, lower(h) AS first, upper(h) AS past,
      (lower(h) + 16383) / 16384 AS chunk, upper(h) / 16384 AS past_chunk
    FROM want AS w JOIN reason AS r ON r.network_id = w.network_id,
      unnest(r.ranges * int8multirange(int8range(w.first, w.last, '[]'))) AS h
    WHERE (w.kinds >> r.kind) & 1 = 1
  ),
  counted AS MATERIALIZED (
    SELECT h.at, h.kind, h.reason, h.past - h.first AS blocks, p.blocks + c.blocks AS published
    FROM part_of AS h, LATERAL (
      SELECT coalesce(sum(least(o.last_block + 1, e.past) - greatest(o.first_block, e.first)), 0) AS blocks
      FROM (VALUES
        (h.first, CASE WHEN h.chunk < h.past_chunk THEN h.chunk * 16384 ELSE h.past END),
        (CASE WHEN h.chunk < h.past_chunk THEN h.past_chunk * 16384 ELSE h.past END, h.past)
      ) AS e (first, past), packhouse.published_run AS o
      WHERE o.network_id = h.network_id AND o.kind = h.kind AND o.first_block < e.past AND o.last_block >= e.first
        AND o.first_block >= coalesce((
          SELECT max(b.first_block) FROM packhouse.published_run AS b
          WHERE b.network_id = h.network_id AND b.kind = h.kind AND b.first_block <= e.first
        ), e.first)
    ) AS p, LATERAL (
      SELECT coalesce(sum(o.blocks), 0) AS blocks
      FROM packhouse.published_chunk AS o
      WHERE o.network_id = h.network_id AND o.kind = h.kind AND o.chunk >= h.chunk AND o.chunk < h.past_chunk
    ) AS c
  )
  SELECT at, kind, reason, sum(blocks - published)::int8 AS blocks FROM counted GROUP BY at, kind, reason
  UNION ALL
  SELECT at, kind, NULL, sum(published)::int8 FROM counted GROUP BY at, kind`,
);

interface CountRow {
  at: number;
  kind: number;
  reason: HoleReason | null;
  blocks: number;
}

/**
 * Counts the blocks of each request by state in one statement, a row for each of its kinds. What is published was counted
 * when it was published; the cost grows with all holes, and with the chunks of the requests.
 */
export async function countHoles(
  connections: Connections,
  requests: readonly CountRequest[],
  hints: ReadonlyMap<string, QueueHints>,
): Promise<HoleCounts[][]> {
  const wants = requests.flatMap(({ network, kinds, range: { firstBlock: first, lastBlock: last } }, at) =>
    last < first ? [] : [{ at, network, kinds: kindsMask(kinds), first, last }],
  );
  const values = [JSON.stringify(wants), hintsJson(hints)];
  const rows = wants.length === 0 ? [] : await connections.query<CountRow>(selectCounts, values);
  const found = requests.map(({ kinds }) =>
    kinds.map((kind): HoleCounts => ({ kind, published: 0, missing: {} })),
  );
  for (const { at, kind: code, reason, blocks } of rows) {
    const counts = found[at]?.find(({ kind }) => kind === getKind(code));
    if (counts === undefined || blocks === 0) continue;
    if (reason === null) counts.published = blocks;
    else counts.missing[reason] = blocks;
  }
  return found;
}
