import { statement } from '../connection/statement.js';

/**
 * $1 network id, $2 kind, $3 `yes` where the transaction appends the bundle's entry itself: the lock of all who
 * publish this kind (that of insert-bundle), until the end of the transaction.
 *
 * A statement of its own: the next one's snapshot is taken behind the lock and sees what the one before committed.
 */
export const lockKind = statement(
  'bundles/lock-kind',
  `SELECT pg_advisory_xact_lock(1347963648, $1::int4 * 8 + $2::int4),
     set_config('packhouse.sealed', $3::text, true)`,
);
