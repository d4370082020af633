import { statement } from '../connection/statement.js';

/** $1 network id, $2 start, $3 end: what is waiting for its next try there waits no longer. */
export const updateNextTry = statement(
  'quarantine/update-next-try',
  `UPDATE packhouse.quarantine SET next_try = least(next_try, now())
   WHERE network_id = $1 AND block BETWEEN $2 AND $3
   RETURNING block`,
);
