import { statement } from '../connection/statement.js';

/** Both ends of a bundle. */
export interface BundleEndsRow {
  kind: number;
  start: number;
  end: number;
  first_hash: Buffer;
  first_parent_hash: Buffer;
  last_hash: Buffer;
}

/**
 * $1 network id, $2 start, $3 end: the bundles of all kinds that touch start..end.
 *
 * For each kind two walks along the primary key: the last bundle that starts at or before `start`, and those that
 * start behind it.
 */
export const selectBundleEnds = statement(
  'staging/select-bundle-ends',
  `SELECT kinds.kind, b.start, b."end", b.first_hash, b.first_parent_hash, b.last_hash
   FROM generate_series(0, 4) AS kinds (kind),
   LATERAL (
     (SELECT start_block AS start, end_block AS "end", first_hash, first_parent_hash, last_hash
      FROM packhouse.bundle
      WHERE network_id = $1 AND kind = kinds.kind AND start_block <= $2
      ORDER BY start_block DESC
      LIMIT 1)
     UNION ALL
     SELECT start_block, end_block, first_hash, first_parent_hash, last_hash
     FROM packhouse.bundle
     WHERE network_id = $1 AND kind = kinds.kind AND start_block > $2 AND start_block <= $3
   ) AS b
   WHERE b."end" >= $2`,
);
