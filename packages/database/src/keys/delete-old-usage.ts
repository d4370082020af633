import { statement } from '../connection/statement.js';

/** $1 day: all days before it are forgotten. */
export const deleteOldUsage = statement(
  'keys/delete-old-usage',
  `DELETE FROM packhouse.key_usage WHERE day < $1::int4`,
);
