import { statement } from '../connection/statement.js';

/**
 * $1, $2 keys of the network's lock (shared); $3 first key, $4 second keys (int4[], ascending) of segments' locks.
 *
 * A statement of its own: the next one has a snapshot from after the locks were had. Two sessions take them in
 * the same order, so they cannot wait for each other.
 */
export const lockStage = statement(
  'staging/lock-stage',
  `WITH network AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared($1, $2))
   SELECT pg_advisory_xact_lock($3, segment) FROM network, unnest($4::int4[]) AS segment`,
);
