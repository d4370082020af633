import { statement } from '../connection/statement.js';

/** All keys, the oldest first. */
export const selectKeys = statement(
  'manifest/select-keys',
  `SELECT key_id AS "keyId", public_key AS "publicKey", created_at AS "createdAt", retired_at AS "retiredAt"
   FROM packhouse.signing_key
   ORDER BY id`,
);
