import { statement } from '../connection/statement.js';

/** $1 network id, $2 staged bytes, $3 limit in bytes. It counts from when it was noted first. */
export const upsertPressure = statement(
  'pressure/upsert-pressure',
  `INSERT INTO packhouse.back_pressure (network_id, staged_bytes, limit_bytes) VALUES ($1, $2, $3)
   ON CONFLICT (network_id) DO UPDATE SET staged_bytes = excluded.staged_bytes, limit_bytes = excluded.limit_bytes`,
);
