import { statement } from '../connection/statement.js';

/** $1, $2 keys. */
export const unlockSegment = statement('staging/unlock-segment', 'SELECT pg_advisory_unlock($1, $2)');
