import { statement } from '../connection/statement.js';
import { KEY_COLUMNS } from './key-row.js';

/**
 * $1 application, $2 plan, $3 network or null, $4 prefix, $5 sha256, $6 expiry or null,
 * $7 origins, $8 addresses, $9 methods.
 *
 * Makes the application where there is none (the update changes nothing; it makes RETURNING tell its id). No row and
 * no application where there is no such plan.
 */
export const insertKey = statement(
  'keys/insert-key',
  `WITH p AS (
     SELECT name, max_block, requests_per_second, requests_per_day FROM packhouse.plan WHERE name = $2
   ), a AS (
     INSERT INTO packhouse.application (name) SELECT $1::text FROM p
     ON CONFLICT (name) DO UPDATE SET name = excluded.name
     RETURNING id, name
   ), k AS (
     INSERT INTO packhouse.api_key (application_id, plan, network, prefix, sha256, expires_at, origins, addresses,
       methods)
     SELECT a.id, p.name, $3::text, $4::text, $5::bytea, $6::timestamptz, $7::text[], $8::text[],
       $9::text[]
     FROM a, p
     RETURNING *
   )
   SELECT ${KEY_COLUMNS} FROM k, a, p`,
);
