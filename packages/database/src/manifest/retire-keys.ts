import { statement } from '../connection/statement.js';

/** $1 the key that stays: every other one that is in use is retired. */
export const retireKeys = statement(
  'manifest/retire-keys',
  'UPDATE packhouse.signing_key SET retired_at = clock_timestamp() WHERE retired_at IS NULL AND key_id <> $1',
);
