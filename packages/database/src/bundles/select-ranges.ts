import { statement } from '../connection/statement.js';

/**
 * $1 network id, $2 kind, $3 start, $4 end: ranges of the bundles that touch start..end, ascending.
 *
 * The sub-select finds where to begin: the last bundle that starts at or before `start`. Read from the primary key
 * alone, which includes end_block: 0.06 ms at 200,000 bundles of the kind. Rejected: without the sub-select every
 * entry from the first block on is read and thrown away (42,857 of them, 2.8 ms, where the range is a fifth into
 * the index).
 */
export const selectRanges = statement(
  'bundles/select-ranges',
  `SELECT start_block AS start, end_block AS "end"
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND start_block <= $4 AND end_block >= $3
     AND start_block >= coalesce((
       SELECT start_block FROM packhouse.bundle
       WHERE network_id = $1 AND kind = $2 AND start_block <= $3
       ORDER BY start_block DESC
       LIMIT 1
     ), $3)
   ORDER BY start_block`,
);
