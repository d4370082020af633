import { statement } from '../connection/statement.js';

/** One change of keys at a time. */
export const lockKeys = statement(
  'manifest/lock-keys',
  `SELECT pg_advisory_xact_lock(hashtextextended('packhouse:signing-keys', 0))`,
);
