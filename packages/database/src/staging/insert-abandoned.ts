import { statement } from '../connection/statement.js';

/** $1 network id, $2 start: remembers the hashes of what is about to be deleted. */
export const insertAbandoned = statement(
  'staging/insert-abandoned',
  `INSERT INTO packhouse.abandoned_block (network_id, block, hash)
   SELECT network_id, block, hash FROM packhouse.staged_block WHERE network_id = $1 AND block >= $2
   ON CONFLICT (network_id, block, hash) DO UPDATE SET abandoned_at = excluded.abandoned_at`,
);
