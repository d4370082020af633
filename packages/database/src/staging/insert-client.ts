import { statement } from '../connection/statement.js';

/**
 * $1 name. A node that says another name at each request must not use up the ids: beyond 10,000 names no new one is
 * remembered.
 */
export const insertClient = statement(
  'staging/insert-client',
  `INSERT INTO packhouse.node_client (name)
   SELECT $1::text
   WHERE (SELECT count(*) FROM packhouse.node_client) < 10000
   ON CONFLICT (name) DO NOTHING`,
);
