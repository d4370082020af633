import { statement } from '../connection/statement.js';

/** $1 network id, $2 kind: kept by triggers, so ten million bundles cost what one does. */
export const selectTotals = statement(
  'bundles/select-totals',
  `SELECT bundles, blocks, bytes, newest_at AS "newestAt"
   FROM packhouse.published
   WHERE network_id = $1 AND kind = $2`,
);
