import { statement } from '../connection/statement.js';

/** $1 network id, $2 start, $3 end: what is waiting for its next try there waits no longer. Gives the blocks of each row within the range. */
export const updateNextTry = statement(
  'quarantine/update-next-try',
  `UPDATE packhouse.quarantine SET next_try = least(next_try, now())
   WHERE network_id = $1 AND int8range(block, block + blocks) && int8range($2::int8, $3::int8, '[]')
   RETURNING least(block + blocks - 1, $3::int8) - greatest(block, $2::int8) + 1 AS blocks`,
);
