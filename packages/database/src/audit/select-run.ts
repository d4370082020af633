import { statement } from '../connection/statement.js';

/** $1 network id. */
export const selectRun = statement(
  'audit/select-run',
  `SELECT finished_at, bundles, bytes_read, findings
   FROM packhouse.audit
   WHERE network_id = $1::int2`,
);
