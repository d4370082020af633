import { statement } from '../connection/statement.js';

/** $1 network id, $2 start, $3 end: the rows that touch start..end, ascending; whether their next try is due by now. */
export const selectOverlapping = statement(
  'quarantine/select-overlapping',
  `SELECT block, blocks, kinds, cause, message, upstream, payload_digest, attempts, first_seen, next_try, tried,
     next_try <= now() AS due
   FROM packhouse.quarantine
   WHERE network_id = $1 AND int8range(block, block + blocks) && int8range($2::int8, $3::int8, '[]')
   ORDER BY block`,
);
