import { statement } from '../connection/statement.js';
import { KEY_COLUMNS } from './key-row.js';

/** $1 id or null, $2 prefix or null. A key that is revoked already keeps its date. */
export const revokeKey = statement(
  'keys/revoke-key',
  `WITH k AS (
     UPDATE packhouse.api_key SET revoked_at = coalesce(revoked_at, now())
     WHERE id = $1::int8 OR prefix = $2::text
     RETURNING *
   )
   SELECT ${KEY_COLUMNS}
   FROM k
   JOIN packhouse.application AS a ON a.id = k.application_id
   JOIN packhouse.plan AS p ON p.name = k.plan`,
);
