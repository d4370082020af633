import { statement } from '../connection/statement.js';

/**
 * $1 network id, $2 block, $3 blocks, $4 kinds (mask), $5 cause, $6 message, $7 upstream, $8 payload digest,
 * $9 attempts, $10 first seen or null (now), $11 next try or null, $12 tried (JSON).
 *
 * Where no next try is given it is 1, 2, 4, … minutes away and at most a day (2^11 minutes is beyond that), and up to
 * a tenth later, so that what failed together does not come back together.
 */
export const insertQuarantine = statement(
  'quarantine/insert-quarantine',
  `INSERT INTO packhouse.quarantine
     (network_id, block, blocks, kinds, cause, message, upstream, payload_digest, attempts, first_seen, next_try,
      tried)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10, now()),
     coalesce($11, now() + (1 + random() / 10) *
       least(interval '1 day', interval '1 minute' * 2 ^ least($9::int4 - 1, 11))), $12)
   RETURNING block, blocks, kinds, cause, message, upstream, payload_digest, attempts, first_seen, next_try, tried`,
);
