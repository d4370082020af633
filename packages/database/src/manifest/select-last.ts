import { statement } from '../connection/statement.js';

/** $1 network id, $2 kind. */
export const selectLast = statement(
  'manifest/select-last',
  `SELECT sequence, hash
   FROM packhouse.manifest
   WHERE network_id = $1 AND kind = $2
   ORDER BY sequence DESC
   LIMIT 1`,
);
