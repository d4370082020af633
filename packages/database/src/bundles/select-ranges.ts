import { statement } from '../connection/statement.js';

/**
 * $1 network id, $2 kind, $3 start, $4 end: ranges of the bundles that touch start..end, ascending.
 *
 * The sub-select finds where to begin: the last bundle that starts at or before `start`. Read from the primary key
 * alone, which includes end_block. `end_block >= $3` without it was rejected: it reads the index from the first
 * block on.
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
