import { statement } from '../connection/statement.js';

/** $1, $2 keys. For the session: DETACH CONCURRENTLY does not run inside a transaction. */
export const tryLockSegment = statement(
  'staging/try-lock-segment',
  'SELECT pg_try_advisory_lock($1, $2) AS locked',
);
