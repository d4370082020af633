import { statement } from '../connection/statement.js';
import { BUNDLE_COLUMNS } from './bundle-row.js';

/**
 * $1 network id, $2 kind, $3 block: the bundle that covers the block.
 *
 * One walk down the primary key to the last bundle that starts at or before the block; whether it reaches the block
 * is asked outside, so that the walk ends after one row even where the block is in a hole. At a million rows: 10
 * pages, 0.03 ms. The GiST index of the constraint answers `@>` in the same time where bundles came in order;
 * how far its pages overlap depends on that order, so it is not relied on.
 */
export const selectCovering = statement(
  'bundles/select-covering',
  `SELECT * FROM (
     SELECT ${BUNDLE_COLUMNS}
     FROM packhouse.bundle
     WHERE network_id = $1 AND kind = $2 AND start_block <= $3
     ORDER BY start_block DESC
     LIMIT 1
   ) AS last
   WHERE end_block >= $3`,
);
