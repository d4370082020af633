import { statement } from '../connection/statement.js';

/**
 * $1 network id, $2 now, $3 newest final block, $4 limit: the rows whose next try is due and which are still wanted,
 * those that wait longest first. Rows that nobody wants any more would fill the limit for ever.
 */
export const selectDue = statement(
  'quarantine/select-due',
  `SELECT block, blocks, kinds, cause, message, upstream, payload_digest, attempts, first_seen, next_try, tried
   FROM packhouse.quarantine AS q
   WHERE network_id = $1 AND next_try <= $2 AND block <= $3 AND EXISTS (
     SELECT FROM packhouse.wanted_range AS w
     WHERE w.network_id = q.network_id AND w.state = 'active' AND (w.kinds & q.kinds) <> 0
       AND w.start_block < q.block + q.blocks AND (w.end_block IS NULL OR w.end_block >= q.block)
   )
   ORDER BY next_try
   LIMIT $4`,
);
