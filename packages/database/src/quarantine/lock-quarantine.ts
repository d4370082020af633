import { statement } from '../connection/statement.js';

/** $1 network id: waits until nobody changes the network's quarantine, until the end of the transaction. */
export const lockQuarantine = statement(
  'quarantine/lock-quarantine',
  // 'PI' in the upper half, beside the keys of staging.
  'SELECT pg_advisory_xact_lock(1346961408, $1::int4)',
);
