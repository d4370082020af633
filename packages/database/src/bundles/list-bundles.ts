import { statement } from '../connection/statement.js';
import { BUNDLE_COLUMNS } from './bundle-row.js';

/** $1 network id, $2 kind, $3 from, $4 limit. */
export const listBundles = statement(
  'bundles/list-bundles',
  `SELECT ${BUNDLE_COLUMNS}
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND start_block >= $3
   ORDER BY start_block
   LIMIT $4`,
);
