import { statement } from '../connection/statement.js';

/** $1, $2 keys. Until the end of the transaction. */
export const lockSegment = statement('staging/lock-segment', 'SELECT pg_advisory_xact_lock($1, $2)');
