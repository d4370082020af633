import { statement } from '../connection/statement.js';
import { WITH_REASONS } from './hole-reasons-sql.js';

/**
 * $1 network id, $2 kinds (codes), $3 first block, $4 last block, $5 unused (the hints stand where select-holes has
 * them), $6 to $10 hints (see WITH_REASONS): blocks by kind and reason; null is published.
 *
 * Published blocks are counted within each piece of a reason and taken off: two runs through the index instead of a
 * difference of multiranges, which takes 100 ms each at 300,000 runs.
 */
export const countHoles = statement(
  'coverage/count-holes',
  `WITH asked AS MATERIALIZED (
    SELECT k.kind, $3::int8 AS first, $4::int8 AS last, $5::int4 AS unused
    FROM unnest($2::int4[]) AS k (kind)
  ),
  ${WITH_REASONS},
  counted AS MATERIALIZED (
    SELECT r.kind, r.reason, upper(h) - lower(h) AS blocks, p.blocks AS published
    FROM reason AS r, unnest(r.ranges) AS h, LATERAL (
      SELECT coalesce(sum(least(o.end_block + 1, upper(h)) - greatest(o.start_block, lower(h))), 0) AS blocks
      FROM packhouse.published_run AS o
      WHERE o.network_id = $1 AND o.kind = r.kind AND o.start_block < upper(h) AND o.end_block >= lower(h)
        AND o.start_block >= coalesce((
          SELECT max(b.start_block) FROM packhouse.published_run AS b
          WHERE b.network_id = $1 AND b.kind = r.kind AND b.start_block <= lower(h)
        ), lower(h))
    ) AS p
  )
  SELECT kind, reason, sum(blocks - published)::int8 AS blocks FROM counted GROUP BY kind, reason
  UNION ALL
  SELECT kind, NULL, sum(published)::int8 FROM counted GROUP BY kind`,
);
