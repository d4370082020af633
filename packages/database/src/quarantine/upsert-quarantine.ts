import { statement } from '../connection/statement.js';

/**
 * $1 network id, $2 block, $3 kinds (mask), $4 cause, $5 message, $6 upstream, $7 payload digest.
 *
 * The next try is 1, 2, 4, … minutes away and at most a day (1440 minutes; 2^11 minutes is beyond that).
 */
export const upsertQuarantine = statement(
  'quarantine/upsert-quarantine',
  `INSERT INTO packhouse.quarantine AS q
     (network_id, block, kinds, cause, message, upstream, payload_digest, attempts, first_seen, next_try)
   VALUES ($1, $2, $3, $4, $5, $6, $7, 1, now(), now() + interval '1 minute')
   ON CONFLICT (network_id, block) DO UPDATE SET
     kinds = q.kinds | excluded.kinds,
     cause = excluded.cause,
     message = excluded.message,
     upstream = excluded.upstream,
     payload_digest = excluded.payload_digest,
     attempts = q.attempts + 1,
     next_try = now() + least(interval '1 day', interval '1 minute' * 2 ^ least(q.attempts, 11))
   RETURNING block, kinds, cause, message, upstream, payload_digest, attempts, first_seen, next_try`,
);
