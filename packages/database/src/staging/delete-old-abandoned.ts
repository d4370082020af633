import { statement } from '../connection/statement.js';

/** Forgets abandoned hashes after their 24 hours. */
export const deleteOldAbandoned = statement(
  'staging/delete-old-abandoned',
  "DELETE FROM packhouse.abandoned_block WHERE abandoned_at < now() - interval '24 hours'",
);
