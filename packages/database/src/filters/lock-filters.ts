import { statement } from '../connection/statement.js';

/** $1 key id. Whoever makes filters of one key waits here, until the transaction ends, so that each counts the others. */
export const lockFilters = statement(
  'filters/lock-filters',
  `SELECT pg_advisory_xact_lock(hashtextextended('packhouse:filters', $1::int8))`,
);
