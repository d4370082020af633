import { statement } from '../connection/statement.js';

/** $1 network id: what has been in quarantine for the longest time. */
export const selectOldestQuarantine = statement(
  'coverage/select-oldest-quarantine',
  `SELECT block AS start, block + blocks - 1 AS "end", cause, attempts, first_seen AS "firstSeen",
     next_try AS "nextTry"
   FROM packhouse.quarantine WHERE network_id = $1
   ORDER BY first_seen, block LIMIT 1`,
);
