import { statement } from '../connection/statement.js';
import { BUNDLE_COLUMNS } from './bundle-row.js';

/** $1 network id, $2 kind, $3 start. */
export const selectBundleAt = statement(
  'bundles/select-bundle-at',
  `SELECT ${BUNDLE_COLUMNS}
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND start_block = $3`,
);
