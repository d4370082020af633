import { statement } from '../connection/statement.js';

/** $1, $2 keys: waits until nobody stages in the network, until the end of the transaction. */
export const lockNetwork = statement('staging/lock-network', 'SELECT pg_advisory_xact_lock($1, $2)');
