import { statement } from '../connection/statement.js';

/** $1 network id, $2 finished at, $3 bundles, $4 bytes read, $5 findings. */
export const upsertRun = statement(
  'audit/upsert-run',
  `INSERT INTO packhouse.audit (network_id, finished_at, bundles, bytes_read, findings)
   VALUES ($1::int2, $2::timestamptz, $3::int8, $4::int8, $5::int8)
   ON CONFLICT (network_id) DO UPDATE SET
     finished_at = excluded.finished_at,
     bundles = excluded.bundles,
     bytes_read = excluded.bytes_read,
     findings = excluded.findings`,
);
