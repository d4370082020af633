import { statement } from '../connection/statement.js';

/** $1 key id, $2 public key: makes it the current one; nothing happens where there is a current one or it is known. */
export const insertKey = statement(
  'manifest/insert-key',
  `INSERT INTO packhouse.signing_key (key_id, public_key)
   SELECT $1::text, $2::bytea
   WHERE NOT EXISTS (SELECT 1 FROM packhouse.signing_key WHERE retired_at IS NULL)
   ON CONFLICT DO NOTHING`,
);
