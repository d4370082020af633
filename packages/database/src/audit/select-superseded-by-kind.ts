import { statement } from '../connection/statement.js';

/** $1 network id: how many bundles of each kind were superseded, counted as it happens. */
export const selectSupersededByKind = statement(
  'audit/select-superseded-by-kind',
  `SELECT kind, superseded AS count
   FROM packhouse.published
   WHERE network_id = $1::int2 AND superseded > 0
   ORDER BY kind`,
);
