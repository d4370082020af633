import { statement } from '../connection/statement.js';
import { BUNDLE_COLUMNS } from './bundle-row.js';

/** $1 network id, $2 kind, $3 start, $4 reason: copies the bundle to the superseded ones. */
export const insertSuperseded = statement(
  'bundles/insert-superseded',
  `INSERT INTO packhouse.superseded_bundle (network_id, ${BUNDLE_COLUMNS}, superseded_at, reason)
   SELECT network_id, ${BUNDLE_COLUMNS}, clock_timestamp(), $4::text
   FROM packhouse.bundle
   WHERE network_id = $1 AND kind = $2 AND start_block = $3`,
);
