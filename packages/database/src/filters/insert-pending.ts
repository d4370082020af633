import { statement } from '../connection/statement.js';

/** $1 network, $2 hashes. Those that were seen before are left out, so that they use up no number. */
export const insertPending = statement(
  'filters/insert-pending',
  `INSERT INTO packhouse.pending_transaction (network, hash)
   SELECT $1::text, seen.hash
   FROM unnest($2::bytea[]) WITH ORDINALITY AS seen (hash, place)
   WHERE NOT EXISTS (
     SELECT 1 FROM packhouse.pending_transaction AS p WHERE p.network = $1::text AND p.hash = seen.hash
   )
   ORDER BY seen.place
   ON CONFLICT DO NOTHING`,
);
