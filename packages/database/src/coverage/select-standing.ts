import { statement } from '../connection/statement.js';

/** $1 network id: a row a kind that is wanted or published, each with what holds for the network. */
export const selectStanding = statement(
  'coverage/select-standing',
  `WITH first AS MATERIALIZED (
     SELECT min(start_block) AS block, max(end_block) AS last, coalesce(bit_or(kinds), 0) AS kinds
     FROM packhouse.wanted_range WHERE network_id = $1 AND state IN ('active', 'paused')
   )
   SELECT k.kind, h.block AS head, h.finalized, f.block AS "firstWanted", f.last AS "lastWanted",
     (f.kinds >> k.kind) & 1 = 1 AS wanted, coalesce(p.bundles, 0) AS bundles,
     (SELECT max(end_block) FROM (
        SELECT end_block FROM packhouse.published_run
        WHERE network_id = $1 AND kind = k.kind ORDER BY start_block DESC LIMIT 1
      ) AS last) AS newest,
     (SELECT CASE WHEN r.end_block >= f.block THEN r.end_block END FROM packhouse.published_run AS r
      WHERE r.network_id = $1 AND r.kind = k.kind AND r.start_block <= f.block
      ORDER BY r.start_block DESC LIMIT 1) AS "completeTo"
   FROM generate_series(0, 7) AS k (kind) CROSS JOIN first AS f
   LEFT JOIN packhouse.head AS h ON h.network_id = $1
   LEFT JOIN packhouse.published AS p ON p.network_id = $1 AND p.kind = k.kind AND p.blocks > 0
   ORDER BY k.kind`,
);
