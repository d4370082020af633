import { statement } from '../connection/statement.js';

/** $1 network id, $2 number, $3 hash, $4 finalized number. The row is small and updated in place (HOT). */
export const upsertHead = statement(
  'head/upsert-head',
  `INSERT INTO packhouse.head (network_id, block, hash, finalized, observed_at)
   VALUES ($1, $2, $3, $4, now())
   ON CONFLICT (network_id) DO UPDATE SET
     block = excluded.block, hash = excluded.hash,
     finalized = excluded.finalized, observed_at = excluded.observed_at`,
);
