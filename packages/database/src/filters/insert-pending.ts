import { statement } from '../connection/statement.js';

/**
 * $1 network, $2 hashes. Those that were seen before are left out, so that they use up no number; what is still seen is
 * not forgotten by its age, or it would be numbered again. It is written once a minute and not at each look.
 */
export const insertPending = statement(
  'filters/insert-pending',
  `WITH seen AS MATERIALIZED (
     SELECT hash, place FROM unnest($2::bytea[]) WITH ORDINALITY AS seen (hash, place)
   ), still AS (
     UPDATE packhouse.pending_transaction AS p SET seen_at = now()
     FROM seen
     WHERE p.network = $1::text AND p.hash = seen.hash AND p.seen_at < now() - interval '1 minute'
   )
   INSERT INTO packhouse.pending_transaction (network, hash)
   SELECT $1::text, seen.hash
   FROM seen
   WHERE NOT EXISTS (
     SELECT 1 FROM packhouse.pending_transaction AS p WHERE p.network = $1::text AND p.hash = seen.hash
   )
   ORDER BY seen.place
   ON CONFLICT DO NOTHING`,
);
