import { statement } from '../connection/statement.js';
import { BUNDLE_COLUMNS } from './bundle-row.js';

/** $1 network id, $2 kind, $3 start, $4 end: superseded bundles that touch start..end. */
export const selectSuperseded = statement(
  'bundles/select-superseded',
  `SELECT ${BUNDLE_COLUMNS}, superseded_at, reason
   FROM packhouse.superseded_bundle
   WHERE network_id = $1 AND kind = $2 AND start_block <= $4 AND end_block >= $3
   ORDER BY start_block, version`,
);
